# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.distribution`: probability distributions, transforms, divergences.

`distribution.py` says what a distribution is. To add one: a file of its own in
`discrete/` or `continuous/`, with parameters made
by `arguments.tensors`, numbers from `noise` or a sampling function, formulas in public tensor
functions; a rule in `kl.py`; its name below. Nothing here looks at the values of tensors, except
where a docstring says so.

Files are imported when a name of theirs is first used: there are many, and most programs use none."""

from proa.distribution import kl as kl
from proa.distribution import transform as transform
from proa.distribution.continuous.beta import Beta as Beta
from proa.distribution.continuous.cauchy import Cauchy as Cauchy
from proa.distribution.continuous.chi2 import Chi2 as Chi2
from proa.distribution.continuous.continuous_bernoulli import ContinuousBernoulli as ContinuousBernoulli
from proa.distribution.continuous.dirichlet import Dirichlet as Dirichlet
from proa.distribution.continuous.exponential import Exponential as Exponential
from proa.distribution.continuous.gamma import Gamma as Gamma
from proa.distribution.continuous.gumbel import Gumbel as Gumbel
from proa.distribution.continuous.laplace import Laplace as Laplace
from proa.distribution.continuous.lkj_cholesky import LKJCholesky as LKJCholesky
from proa.distribution.continuous.lognormal import LogNormal as LogNormal
from proa.distribution.continuous.multivariate_normal import MultivariateNormal as MultivariateNormal
from proa.distribution.continuous.normal import Normal as Normal
from proa.distribution.continuous.student_t import StudentT as StudentT
from proa.distribution.continuous.uniform import Uniform as Uniform
from proa.distribution.discrete.bernoulli import Bernoulli as Bernoulli
from proa.distribution.discrete.binomial import Binomial as Binomial
from proa.distribution.discrete.categorical import Categorical as Categorical
from proa.distribution.discrete.geometric import Geometric as Geometric
from proa.distribution.discrete.multinomial import Multinomial as Multinomial
from proa.distribution.discrete.poisson import Poisson as Poisson
from proa.distribution.distribution import Distribution as Distribution
from proa.distribution.exponential_family import ExponentialFamily as ExponentialFamily
from proa.distribution.independent import Independent as Independent
from proa.distribution.kl import kl_divergence as kl_divergence
from proa.distribution.kl import register_kl as register_kl
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
