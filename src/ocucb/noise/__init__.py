"""Noise families: one file for each, and a table of them all."""

from ocucb.noise.bernoulli import Bernoulli
from ocucb.noise.bounded import Bounded
from ocucb.noise.exponential import Exponential
from ocucb.noise.gaussian import Gaussian
from ocucb.noise.gaussian_unknown_scale import GaussianUnknownScale
from ocucb.noise.noise import Family, Noise
from ocucb.noise.poisson import Poisson
from ocucb.noise.table import NOISES

__all__ = [
    "NOISES",
    "Bernoulli",
    "Bounded",
    "Exponential",
    "Family",
    "Gaussian",
    "GaussianUnknownScale",
    "Noise",
    "Poisson",
]
