"""Twenty models built in PyTorch, exported, converted and compared: `python -m tests.convert.torch_models [-k TEXT]`.

Needs torch and transformers; the weights are random. A model counts if its certificate agrees within 1e-4, for the inputs it
was exported with and for a batch of another size.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
import warnings
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True),
            nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out),
        )  # fmt: skip
        self.skip = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x: Any) -> Any:
        return F.relu(self.body(x) + self.skip(x))


class SmallResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.stages = nn.Sequential(Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2))
        self.head = nn.Linear(64, 10)

    def forward(self, x: Any) -> Any:
        return self.head(F.adaptive_avg_pool2d(self.stages(self.stem(x)), 1).flatten(1))


class Inverted(nn.Module):
    """A block of MobileNet v3: expansion, depthwise convolution, squeeze and excitation."""

    def __init__(self, channels: int, wide: int) -> None:
        super().__init__()
        self.grow = nn.Sequential(nn.Conv2d(channels, wide, 1), nn.BatchNorm2d(wide), nn.Hardswish())
        self.depth = nn.Sequential(nn.Conv2d(wide, wide, 5, 1, 2, groups=wide), nn.BatchNorm2d(wide), nn.Hardswish())
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, 8, 1), nn.ReLU6(), nn.Conv2d(8, wide, 1), nn.Hardsigmoid()
        )
        self.shrink = nn.Sequential(nn.Conv2d(wide, channels, 1), nn.BatchNorm2d(channels))

    def forward(self, x: Any) -> Any:
        y = self.depth(self.grow(x))
        return x + self.shrink(y * self.squeeze(y))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
        self.low = nn.Sequential(
            nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.InstanceNorm2d(16, affine=True), nn.GELU()
        )
        self.up = nn.ConvTranspose2d(16, 8, 4, 2, 1)
        self.out = nn.Conv2d(24, 2, 1)

    def forward(self, x: Any) -> Any:
        high, low = self.down(x), self.low(self.down(x))
        smooth = F.interpolate(low[:, :8], scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(torch.cat([high, self.up(low), smooth], 1)).log_softmax(1)


class Dense(nn.Module):
    """A block of DenseNet with average pooling, then a strange head: dilated pooling, padding, shuffling."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(4 + 4 * n, 4, 3, padding=1) for n in range(3)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(4 + 4 * n) for n in range(3)])

    def forward(self, x: Any) -> Any:
        found = [x]
        for norm, layer in zip(self.norms, self.layers, strict=True):
            found.append(layer(F.leaky_relu(norm(torch.cat(found, 1)))))
        y = F.avg_pool2d(torch.cat(found, 1), 2, ceil_mode=True, count_include_pad=False)
        y = F.max_pool2d(F.pad(y, (1, 1, 2, 0), mode="reflect"), 3, 1, dilation=2)
        return F.pixel_shuffle(y, 2).amax((2, 3))


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(60, 12, padding_idx=0)
        self.lstm = nn.LSTM(12, 10, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(20, 7)

    def forward(self, words: Any) -> Any:
        return self.head(self.lstm(self.words(words))[0]).argmax(-1), self.head(self.lstm(self.words(words))[0])


class Translator(nn.Module):
    """A GRU that reads, one that writes, with attention between them."""

    def __init__(self) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(50, 8), nn.Embedding(50, 8)
        self.encoder, self.decoder = nn.GRU(8, 12, batch_first=True), nn.GRU(8, 12, batch_first=True)
        self.join, self.out = nn.Linear(24, 12), nn.Linear(12, 50)

    def forward(self, source: Any, target: Any) -> Any:
        memory, state = self.encoder(self.source(source))
        steps, _ = self.decoder(self.target(target), state)
        weights = torch.softmax(steps @ memory.transpose(1, 2) / 12**0.5, -1)
        return self.out(torch.tanh(self.join(torch.cat([steps, weights @ memory], -1))))


class Speech(nn.Module):
    """Convolutions over time, a plain recurrent layer, and statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(6, 12, 5, 2, 2), nn.BatchNorm1d(12), nn.PReLU(), nn.Conv1d(12, 12, 3, dilation=2, padding=2)
        )
        self.rnn = nn.RNN(12, 9, batch_first=True)
        self.head = nn.Linear(18, 4)

    def forward(self, x: Any) -> Any:
        y, _ = self.rnn(self.conv(x).transpose(1, 2))
        return self.head(torch.cat([y.mean(1), y.std(1)], -1))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Transformer(16, 4, 2, 2, 32, batch_first=True)

    def forward(self, source: Any, target: Any) -> Any:
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        return self.inner(source, target, tgt_mask=causal, tgt_is_causal=True)


class Only(nn.Module):
    """The named results of a Hugging Face model, by the names of its inputs."""

    def __init__(self, model: Any, inputs: list[str], outputs: list[str]) -> None:
        super().__init__()
        self.model, self.inputs, self.outputs = model, inputs, outputs

    def forward(self, *given: Any) -> Any:
        found = self.model(**dict(zip(self.inputs, given, strict=True)))
        return tuple(getattr(found, name) for name in self.outputs)


def words(*shape: int) -> Any:
    return torch.randint(2, 60, shape)


def mask(*shape: int) -> Any:
    made = torch.ones(shape, dtype=torch.int64)
    made[0, -2:] = 0
    return made


def hugging(
    kind: str, head: str, inputs: dict[str, Any], outputs: list[str], **config: Any
) -> tuple[Any, tuple[Any, ...]]:
    import transformers

    made = getattr(transformers, head)(getattr(transformers, kind)(**config))
    return Only(made.eval(), list(inputs), outputs), tuple(inputs.values())


_TEXT = {"vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
         "max_position_embeddings": 40}  # fmt: skip
_LLAMA = {
    **_TEXT,
    "num_key_value_heads": 2,
    "use_cache": False,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_PICTURE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "image_size": 32,
            "patch_size": 8}  # fmt: skip


def _pictures(size: int = 32) -> Any:
    return torch.randn(2, 3, size, size)


MODELS: dict[str, Any] = {
    "resnet": lambda: (SmallResNet(), (_pictures(64),)),
    "mobilenet": lambda: (nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), Inverted(8, 24), Inverted(8, 32)), (_pictures(),)),
    "unet": lambda: (UNet(), (_pictures(),)),
    "densenet": lambda: (Dense(), (torch.randn(2, 4, 15, 15),)),
    "tagger (lstm)": lambda: (Tagger(), (words(2, 9),)),
    "translator (gru)": lambda: (Translator(), (words(2, 7) % 50, words(2, 5) % 50)),
    "speech (rnn)": lambda: (Speech(), (torch.randn(2, 6, 24),)),
    "transformer": lambda: (Transformer(), (torch.randn(2, 6, 16), torch.randn(2, 5, 16))),
    "bert": lambda: hugging(
        "BertConfig", "BertModel", {"input_ids": words(2, 9), "attention_mask": mask(2, 9)},
        ["last_hidden_state", "pooler_output"], **_TEXT,
    ),
    "distilbert": lambda: hugging(
        "DistilBertConfig", "DistilBertForSequenceClassification", {"input_ids": words(2, 9), "attention_mask": mask(2, 9)},
        ["logits"], vocab_size=60, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=40,
    ),
    "gpt2": lambda: hugging(
        "GPT2Config", "GPT2LMHeadModel", {"input_ids": words(2, 9)}, ["logits"], vocab_size=60, n_embd=32, n_layer=2,
        n_head=4, n_positions=40, use_cache=False, bos_token_id=1, eos_token_id=2,
    ),
    "llama": lambda: hugging("LlamaConfig", "LlamaForCausalLM", {"input_ids": words(2, 9)}, ["logits"], **_LLAMA),
    "qwen2": lambda: hugging(
        "Qwen2Config", "Qwen2ForCausalLM", {"input_ids": words(2, 9), "attention_mask": mask(2, 9)}, ["logits"], **_LLAMA
    ),
    "gemma2": lambda: hugging(
        "Gemma2Config", "Gemma2ForCausalLM", {"input_ids": words(2, 9)}, ["logits"], **_LLAMA, head_dim=8
    ),
    "t5": lambda: hugging(
        "T5Config", "T5ForConditionalGeneration", {"input_ids": words(2, 9), "decoder_input_ids": words(2, 5)}, ["logits"],
        vocab_size=60, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, use_cache=False, decoder_start_token_id=0,
    ),
    "vit": lambda: hugging("ViTConfig", "ViTModel", {"pixel_values": _pictures()}, ["last_hidden_state"], **_PICTURE),
    "swin": lambda: hugging(
        "SwinConfig", "SwinModel", {"pixel_values": _pictures()}, ["last_hidden_state", "pooler_output"], image_size=32,
        patch_size=4, embed_dim=12, depths=[2, 2], num_heads=[2, 4], window_size=4,
    ),
    "convnext": lambda: hugging(
        "ConvNextConfig", "ConvNextForImageClassification", {"pixel_values": _pictures()}, ["logits"],
        hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
    ),
    "clip": lambda: hugging(
        "CLIPConfig", "CLIPModel",
        {"input_ids": words(2, 9), "pixel_values": _pictures(), "attention_mask": torch.ones(2, 9, dtype=torch.int64)},
        ["logits_per_image"], text_config={**_TEXT, "eos_token_id": 59}, vision_config=_PICTURE, projection_dim=16,
    ),
    "whisper": lambda: hugging(
        "WhisperConfig", "WhisperModel", {"input_features": torch.randn(2, 20, 48), "decoder_input_ids": words(2, 5)},
        ["last_hidden_state"], vocab_size=60, num_mel_bins=20, d_model=32, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
        max_source_positions=24, max_target_positions=20, use_cache=False, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1,
    ),
}  # fmt: skip


def exported(name: str) -> Any:
    """The model exported, with a batch of any size where torch can do that."""
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    batch = torch.export.Dim("batch", min=2, max=64)
    shapes = tuple({0: batch} for _ in inputs)
    if isinstance(model, Only):
        shapes = (shapes,)  # it takes *given
    try:
        return torch.export.export(model.eval(), inputs, dynamic_shapes=shapes)
    except Exception:
        return torch.export.export(model.eval(), inputs)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", default="", help="only models with this in their names")
    parser.add_argument("--onnx", action="store_true", help="by way of ONNX, as torch.onnx.export writes it")
    parser.add_argument("--errors", action="store_true", help="print where a conversion fails")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    from proa.convert import convert

    chosen = [name for name in MODELS if arguments.k in name]
    good = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            started = time.time()
            try:
                program = exported(name)
                path = os.path.join(folder, f"{name.split()[0]}.{'onnx' if arguments.onnx else 'pt2'}")
                if arguments.onnx:
                    torch.onnx.export(program, f=path, dynamo=True, verbose=False)
                else:
                    torch.export.save(program, path)
                certificate = convert(path, os.path.join(folder, f"{name.split()[0]}.proa"))
                sizes = [one[0]["shape"][0] for one in certificate.inputs]
                print(f"{name}: agrees, largest error {certificate.largest_error:.1e}, batches {sizes}, "
                      f"{time.time() - started:.1f} s", flush=True)  # fmt: skip
                for line in (*certificate.notes, *certificate.fixed_dimensions):
                    print(f"    {line[:200]}")
                good += certificate.agrees
            except Exception as error:
                print(f"{name}: FAILED: {type(error).__name__}: {' '.join(str(error).split())[:300]}", flush=True)
                if arguments.errors:
                    traceback.print_exc()
    print(f"{good} of {len(chosen)} models converted, each within 1e-4")
    return 0 if good >= 0.9 * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
