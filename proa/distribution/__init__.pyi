# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.distribution`: probability distributions, transforms, divergences.

`distribution.py` says what a distribution is. To add one: a file of its own, with parameters made
by `arguments.tensors`, numbers from `noise` or a sampling function, formulas in public tensor
functions; a rule in `kl.py`; its name below. Nothing here looks at the values of tensors, except
where a docstring says so.

Files are imported when a name of theirs is first used: there are many, and most programs use none."""

from proa.distribution.bernoulli import Bernoulli as Bernoulli
from proa.distribution.beta import Beta as Beta
from proa.distribution.binomial import Binomial as Binomial
from proa.distribution.categorical import Categorical as Categorical
from proa.distribution.cauchy import Cauchy as Cauchy
from proa.distribution.chi2 import Chi2 as Chi2
from proa.distribution.continuous_bernoulli import ContinuousBernoulli as ContinuousBernoulli
from proa.distribution.dirichlet import Dirichlet as Dirichlet
from proa.distribution.distribution import Distribution as Distribution
from proa.distribution.exponential import Exponential as Exponential
from proa.distribution.exponential_family import ExponentialFamily as ExponentialFamily
from proa.distribution.gamma import Gamma as Gamma
from proa.distribution.geometric import Geometric as Geometric
from proa.distribution.gumbel import Gumbel as Gumbel
from proa.distribution.independent import Independent as Independent
from proa.distribution.kl import kl_divergence as kl_divergence
from proa.distribution.kl import register_kl as register_kl
from proa.distribution.laplace import Laplace as Laplace
from proa.distribution.lkj_cholesky import LKJCholesky as LKJCholesky
from proa.distribution.lognormal import LogNormal as LogNormal
from proa.distribution.multinomial import Multinomial as Multinomial
from proa.distribution.multivariate_normal import MultivariateNormal as MultivariateNormal
from proa.distribution.normal import Normal as Normal
from proa.distribution.poisson import Poisson as Poisson
from proa.distribution.student_t import StudentT as StudentT
from proa.distribution.transform import AbsTransform as AbsTransform
from proa.distribution.transform import AffineTransform as AffineTransform
from proa.distribution.transform import ExpTransform as ExpTransform
from proa.distribution.transform import PowerTransform as PowerTransform
from proa.distribution.transform import SigmoidTransform as SigmoidTransform
from proa.distribution.transform import TanhTransform as TanhTransform
from proa.distribution.transform_base import Transform as Transform
from proa.distribution.transform_composed import ChainTransform as ChainTransform
from proa.distribution.transform_composed import IndependentTransform as IndependentTransform
from proa.distribution.transform_composed import StackTransform as StackTransform
from proa.distribution.transform_events import ReshapeTransform as ReshapeTransform
from proa.distribution.transform_events import SoftmaxTransform as SoftmaxTransform
from proa.distribution.transform_events import StickBreakingTransform as StickBreakingTransform
from proa.distribution.transformed_distribution import TransformedDistribution as TransformedDistribution
from proa.distribution.uniform import Uniform as Uniform
