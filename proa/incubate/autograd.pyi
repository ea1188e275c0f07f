# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.incubate.autograd`: functions of `proa.autograd` that are exported here (collected at import)."""

from proa.autograd.functional import Hessian as Hessian
from proa.autograd.functional import Jacobian as Jacobian
from proa.autograd.functional import disable_prim as disable_prim
from proa.autograd.functional import enable_prim as enable_prim
from proa.autograd.functional import forward_grad as forward_grad
from proa.autograd.functional import grad as grad
from proa.autograd.functional import jvp as jvp
from proa.autograd.functional import prim_enabled as prim_enabled
from proa.autograd.functional import vjp as vjp
from proa.autograd.taylor import taylor as taylor
