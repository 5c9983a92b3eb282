"""The table of noise families: every one of the package by its name, and those registered later."""

from __future__ import annotations

from ocucb.noise.bernoulli import Bernoulli
from ocucb.noise.bounded import Bounded
from ocucb.noise.exponential import Exponential
from ocucb.noise.gaussian import Gaussian
from ocucb.noise.gaussian_unknown_scale import GaussianUnknownScale
from ocucb.noise.noise import Noise
from ocucb.noise.poisson import Poisson
from ocucb.registry import Registry

NOISES: Registry[Noise] = Registry("noise", "noise family", Noise, ("formula", "summary", "interval_method"))
for family in (Gaussian, Bernoulli, Bounded, Poisson, Exponential, GaussianUnknownScale):
    NOISES.register(family)
