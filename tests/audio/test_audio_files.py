"""Sound files and datasets of them."""

from __future__ import annotations

import io
import os
import pathlib
import pickle
import wave
import zipfile
from typing import Any

import numpy as np
import pytest

import proa as paddle

audio = paddle.audio


def write_wave(path: Any, content: bytes, channels: int = 1, width: int = 2, rate: int = 16000) -> None:
    with wave.open(path, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(content)


@pytest.fixture
def stereo(tmp_path: pathlib.Path) -> tuple[str, np.ndarray]:
    values = np.random.default_rng(0).integers(-32768, 32768, (100, 2)).astype("<i2")
    path = str(tmp_path / "stereo.wav")
    write_wave(path, values.tobytes(), 2)
    return path, values


def test_loading(stereo: tuple[str, np.ndarray]) -> None:
    path, values = stereo
    samples, rate = audio.load(path)
    assert (samples.shape, samples.dtype, rate) == ([2, 100], paddle.float32, 16000)
    np.testing.assert_array_equal(samples.numpy(), values.T.astype("float32") / 32768)
    np.testing.assert_array_equal(audio.load(path, normalize=False, channels_first=False)[0].numpy(), values)
    np.testing.assert_array_equal(audio.load(path, 10, 5, False)[0].numpy(), values[10:15].T)
    assert audio.load(path, 98, 50)[0].shape == [2, 2]
    assert audio.load(path, 200)[0].shape == [2, 0]
    assert audio.load(path, num_frames=0)[0].shape == [2, 0]
    with open(path, "rb") as file:
        assert audio.load(file)[0].shape == [2, 100]
    assert audio.load(pathlib.Path(path))[0].shape == [2, 100]
    for settings in ({"frame_offset": -1}, {"num_frames": -2}, {"num_frames": 1.5}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            audio.load(path, **settings)


@pytest.mark.parametrize(("width", "kind"), [(1, "PCM_U"), (2, "PCM_S"), (3, "PCM_S"), (4, "PCM_S")])
def test_widths_of_samples(tmp_path: pathlib.Path, width: int, kind: str) -> None:
    path = str(tmp_path / "sound.wav")
    largest = 1 << (8 * width - 1)
    numbers = [0, 1, -1, largest - 1, -largest, 5]
    shift = largest if width == 1 else 0  # 8 bits are stored without a sign
    content = b"".join((n + shift).to_bytes(width, "little", signed=width > 1) for n in numbers)
    write_wave(path, content, width=width, rate=8000)
    np.testing.assert_allclose(audio.load(path)[0].numpy()[0], np.array(numbers) / largest, rtol=1e-6)
    np.testing.assert_allclose(audio.load(path, normalize=False)[0].numpy()[0], numbers, rtol=1e-6)
    assert audio.info(path) == audio.backends.AudioInfo(8000, 6, 1, 8 * width, kind)


def test_saving(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "saved.wav")
    samples = np.array([[0.0, 0.5, -1.0, 1.0, 1.5], [0.25, -0.25, 0.1, -3.0, 0.0]], "float32")
    audio.save(path, paddle.to_tensor(samples), 8000)
    wanted = [[0, 16384, -32768, 32767, 32767], [8192, -8192, 3276, -32768, 0]]
    assert audio.load(path, normalize=False)[0].numpy().tolist() == wanted
    for other in (samples.astype("float64"), np.array(wanted, "int16")):
        audio.save(path, paddle.to_tensor(other), 8000)
        assert audio.load(path, normalize=False)[0].numpy().tolist() == wanted
    audio.save(path, paddle.to_tensor(samples.T), 8000, channels_first=False, encoding="PCM_16", bits_per_sample=16)
    assert audio.info(path).num_channels == 2
    assert os.listdir(tmp_path) == ["saved.wav"]


def test_a_refused_save_leaves_the_file_alone(stereo: tuple[str, np.ndarray]) -> None:
    path, _ = stereo
    before = pathlib.Path(path).read_bytes()
    sound = paddle.zeros([1, 5])
    for arguments, settings, error, words in (
        ((paddle.zeros([5]), 8000), {}, ValueError, "two dimensions"),
        ((sound, 0), {}, ValueError, "sample_rate must be a positive integer"),
        ((sound, 8000), {"bits_per_sample": 8}, ValueError, "16 bits"),
        ((sound, 8000), {"encoding": "ULAW"}, ValueError, "PCM_16"),
        ((paddle.zeros([1, 5], "int32"), 8000), {}, TypeError, "floats in"),
        ((paddle.full([1, 5], float("nan")), 8000), {}, ValueError, "NaN"),
        (([[1.0]], 8000), {}, TypeError, "src must be a Tensor"),
    ):
        with pytest.raises(error, match=words):
            audio.save(path, *arguments, **settings)
    assert pathlib.Path(path).read_bytes() == before


def test_damaged_files(stereo: tuple[str, np.ndarray], tmp_path: pathlib.Path) -> None:
    path, _ = stereo
    whole = pathlib.Path(path).read_bytes()
    broken = tmp_path / "broken.wav"
    broken.write_bytes(whole[:100])
    with pytest.raises(ValueError, match=r"damaged.*promises 100 frames"):
        audio.load(str(broken))
    for content in (b"", b"RIFFxxxx", b"ID3 not a wave file at all"):
        broken.write_bytes(content)
        for function in (audio.load, audio.info):
            with pytest.raises(NotImplementedError, match="not a WAV file of whole numbers"):
                function(str(broken))
    with pytest.raises(FileNotFoundError):
        audio.load(str(tmp_path / "nothing.wav"))


def test_backends() -> None:
    assert "wave_backend" in audio.backends.list_available_backends()
    assert audio.backends.get_current_backend() == "wave_backend"
    audio.backends.set_backend("wave_backend")
    with pytest.raises(NotImplementedError, match="backend_name must be one of"):
        audio.backends.set_backend("sox")


def test_soundfile_when_it_is_there(stereo: tuple[str, np.ndarray], tmp_path: pathlib.Path) -> None:
    pytest.importorskip("soundfile", reason="soundfile is not installed")
    path, values = stereo
    audio.backends.set_backend("soundfile")
    try:
        np.testing.assert_array_equal(audio.load(path, normalize=False)[0].numpy(), values.T)
        assert audio.info(path).bits_per_sample == 16
        flac = str(tmp_path / "sound.flac")
        audio.save(flac, paddle.to_tensor(values.T.astype("float32") / 32768), 16000)
        np.testing.assert_allclose(audio.load(flac)[0].numpy(), values.T / 32768, atol=1e-4)
    finally:
        audio.backends.set_backend("wave_backend")


# ---- datasets ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def empty_home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    home = tmp_path.parent / f"{tmp_path.name} home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))

    def no_network(*arguments: Any, **settings: Any) -> Any:
        raise OSError("the network is unreachable")

    monkeypatch.setattr("urllib.request.urlopen", no_network)
    return home


def sound(value: int, frames: int = 600) -> bytes:
    buffer = io.BytesIO()
    write_wave(buffer, np.full(frames, value, "<i2").tobytes())
    return buffer.getvalue()


def esc50() -> dict[str, bytes]:
    files, rows = {}, ["filename,fold,target,category,esc10,src_file,take"]
    for k in range(10):
        name = f"{k % 5 + 1}-{k}-A-{k % 3}.wav"
        files[f"ESC-50-master/audio/{name}"] = sound(k)
        rows.append(f"{name},{k % 5 + 1},{k % 3},dog,True,1,A")
    return {**files, "ESC-50-master/meta/esc50.csv": "\n".join([*rows, ""]).encode()}


def tess() -> dict[str, bytes]:
    names = [
        f"{who}_{word}_{mood}" for mood in ("angry", "ps", "sad") for who in ("OAF", "YAF") for word in ("back", "bar")
    ]
    root = "TESS_Toronto_emotional_speech_set"
    return {f"{root}/{name[:3]}_{name.split('_')[2]}/{name}.wav": sound(k) for k, name in enumerate(names)}


def written(folder: pathlib.Path, files: dict[str, bytes], how: str) -> str:
    if how == "zip":
        with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return str(folder / "archive.zip")
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder / next(iter(files)).split("/")[0]) if how == "inner folder" else str(folder)


@pytest.mark.parametrize("how", ["zip", "folder", "inner folder"])
def test_esc50(tmp_path: pathlib.Path, how: str) -> None:
    archive = written(tmp_path, esc50(), how)
    train, dev = (audio.datasets.ESC50(mode, split=2, archive=archive) for mode in ("train", "dev"))
    assert (len(train), len(dev)) == (8, 2)
    assert [os.path.basename(name) for name in dev.files] == ["2-1-A-1.wav", "2-6-A-0.wav"]
    samples, label = pickle.loads(pickle.dumps(dev))[1]
    assert (samples.shape, label) == ([600], 0)
    np.testing.assert_allclose(samples.numpy(), 6 / 32768)
    features = audio.datasets.ESC50("dev", archive=archive, feat_type="mfcc", n_fft=256, n_mfcc=13)
    assert features[0][0].shape == [13, 10]
    assert audio.datasets.ESC50("dev", archive=archive, feat_type="spectrogram", n_fft=256)[0][0].shape == [129, 2]
    assert len(audio.datasets.ESC50.label_list) == 50


@pytest.mark.parametrize("how", ["zip", "folder"])
def test_tess(tmp_path: pathlib.Path, how: str) -> None:
    archive = written(tmp_path, tess(), how)
    train, dev = (audio.datasets.TESS(mode, n_folds=3, split=2, archive=archive) for mode in ("train", "dev"))
    assert (len(train), len(dev)) == (8, 4)
    assert not set(train.files) & set(dev.files)
    assert dev.labels == [0, 6, 0, 6]
    assert dev[0][0].shape == [600]


def test_wrong_archives(tmp_path: pathlib.Path, empty_home: pathlib.Path) -> None:
    datasets = audio.datasets
    with pytest.raises(RuntimeError, match="could not be downloaded") as caught:
        datasets.ESC50()
    assert str(empty_home / "cache" / "proa" / "datasets" / "audio" / "ESC-50-master.zip") in str(caught.value)
    archive = written(tmp_path, esc50(), "zip")
    for settings, error, words in (
        ({"split": 6}, ValueError, "split must be an integer from 1 to 5"),
        ({"mode": "test"}, ValueError, "mode must be one of train, dev"),
        ({"feat_type": "chroma"}, RuntimeError, "feat_type must be one of raw"),
        ({"archive": {"url": "x"}}, ValueError, "'url' and 'md5'"),
        ({"archive": str(tmp_path / "nothing.zip")}, FileNotFoundError, "no such archive"),
    ):
        with pytest.raises(error, match=words):
            datasets.ESC50(**{"archive": archive, **settings})
    with pytest.raises(ValueError, match="n_folds must be a positive integer"):
        datasets.TESS(n_folds=0.5, archive=archive)
    with open(archive, "rb") as file:
        half = file.read()[:-60]
    (tmp_path / "half.zip").write_bytes(half)
    with pytest.raises(ValueError, match=r"\(ESC50\) the file is damaged"):
        datasets.ESC50(archive=str(tmp_path / "half.zip"))
    files = esc50()
    files["ESC-50-master/meta/esc50.csv"] = b"filename,fold\nx,y\n"
    with pytest.raises(ValueError, match="damaged"):
        datasets.ESC50(archive=written(tmp_path, files, "zip"))
    strange = {"TESS_Toronto_emotional_speech_set/OAF/hello.wav": sound(1)}
    with pytest.raises(ValueError, match="speaker"):
        datasets.TESS(archive=written(tmp_path, strange, "zip"))
