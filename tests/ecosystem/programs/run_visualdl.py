"""visualdl: a training run writes its losses, and they are read back."""

import pathlib
import tempfile

import paddle
from common import report, train
from visualdl import LogReader, LogWriter

paddle.seed(1)
model = paddle.nn.Linear(2, 1)
optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters())
x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
losses = train("Linear", model, optimizer, lambda: (model(x) ** 2).mean())
# A folder of its own: a log is named after the second in which it is begun, and two runs may share one.
with tempfile.TemporaryDirectory() as folder:
    with LogWriter(logdir=folder) as writer:
        for step, loss in enumerate(losses):
            writer.add_scalar("loss", loss, step)
        writer.add_histogram("weight", model.weight.numpy(), 0)
    (log,) = pathlib.Path(folder).glob("*")
    read = [entry.value for entry in LogReader(file_path=str(log)).get_data("scalar", "loss")]
assert [round(value, 4) for value in read] == [round(value, 4) for value in losses], (read, losses)
report(Linear=losses)
