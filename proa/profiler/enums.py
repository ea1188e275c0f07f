"""Paddle's enumerations for profiling."""

from __future__ import annotations

from enum import Enum


class ProfilerState(Enum):
    """What the profiler does during a step.

    `RECORD_AND_RETURN` is the last step of a recording: it is handed over when the step ends.

    Examples:
        >>> [state.name for state in paddle.profiler.ProfilerState]
        ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN']
    """

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3  # the last step of a recording: it is handed over when the step ends


class ProfilerTarget(Enum):
    """Whose work is recorded. CPU: the host; any other: the accelerator's own trace as well.

    Examples:
        >>> [target.name for target in paddle.profiler.ProfilerTarget]
        ['CPU', 'GPU', 'XPU', 'CUSTOM_DEVICE']
    """

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


class SortedKeys(Enum):
    """By what the rows of a summary are ordered.

    Examples:
        >>> paddle.profiler.SortedKeys.CPUTotal.value
        0
    """

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class SummaryView(Enum):
    """The tables of a summary.

    Examples:
        >>> paddle.profiler.SummaryView.OperatorView.name
        'OperatorView'
    """

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


class TracerEventType(Enum):
    """Kinds of events, by Paddle's numbers; the last two are this package's own.

    Examples:
        >>> [kind.name for kind in paddle.profiler.TracerEventType][-2:]
        ['Compilation', 'CompiledProgram']
    """

    Operator = 0
    Dataloader = 1
    ProfileStep = 2
    CudaRuntime = 3
    Kernel = 4
    Memcpy = 5
    Memset = 6
    UserDefined = 7
    OperatorInner = 8
    Forward = 9
    Backward = 10
    Optimization = 11
    Communication = 12
    PythonOp = 13
    PythonUserDefined = 14
    DygraphKernelLaunch = 15
    StaticKernelLaunch = 16
    Compilation = 100
    CompiledProgram = 101
