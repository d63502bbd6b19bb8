"""The minimum enclosing ball as an optimisation problem and as an anomaly detector."""

import lazy_loader

# A name is imported when it is first asked for, so that the solvers cost no more than
# NumPy and Numba (SPEC 1 of Scientific Python).
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0"
