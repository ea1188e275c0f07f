"""`proa export web`: a folder that any static file server serves, with a model that runs in the browser.

`site.py` puts it together: the model as ONNX, a page (`assets/`), and ONNX Runtime Web, which is found by `runtime.py`. The
pages are plain JavaScript modules without a build step; what they share is `assets/common`.
"""
