"""Tensors as a backend of ridge._cuda and ridge._cuda_nufft."""
import torch as _torch


class Tensors:
    """PyTorch tensors."""

    def dtype(self, x):
        return str(x.dtype).partition(".")[2]

    def packed(self, x, order):
        return x.permute(order).contiguous()

    def moved(self, x, order):
        return x.permute(order)

    def empty(self, shape, name, like):
        return _torch.empty(shape, dtype=getattr(_torch, name), device=like.device)

    def address(self, x):
        return x.data_ptr()

    def device(self, x):
        return f"cuda:{x.device.index or 0}"

    def stream(self, x):
        return _torch.cuda.current_stream(x.device).cuda_stream

    def on_host(self, x):
        return x.cpu().numpy()
