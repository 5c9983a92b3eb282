from ocucb.noise import NOISES
from ocucb.policies import POLICIES
from samples import NOISE_SAMPLES, POLICY_SAMPLES, VARIANCE_SAMPLES


def test_the_samples_leave_nothing_out() -> None:
    assert {policy.name for policy in [*POLICY_SAMPLES, *VARIANCE_SAMPLES]} == set(POLICIES)
    assert {noise.name for noise in NOISE_SAMPLES} == set(NOISES)
