"""`paddle.cuda`: functions of `proa.device` under the names that PyTorch gives them (collected at import)."""
