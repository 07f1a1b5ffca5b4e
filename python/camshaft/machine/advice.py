"""What each thing that a machine may have is for, what is lost without it, and what gets it."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Advice:
    use: str = ""
    loss: str = ""
    remedy: str = ""
    distributions: tuple[str, ...] = ()  # what pip calls it, where that is something else


PACKAGES = ("numpy", "onnx", "onnxruntime", "openvino", "torch")
REINSTALL = "pip install --force-reinstall camshaft"
ALL = {
    "vectors": Advice("all kernels on the CPU"),
    "f32 products on matrix units": Advice(
        "f32 products and convolutions, where TF32 is allowed, as it is by default", "they run on vectors"),
    "bf16 products": Advice("engines built with BF16 or FP16",
                            "those with BF16 compute in f32, and those with FP16 in f16 where there are such products"),
    "f16 products": Advice("engines built with FP16, where there are no bf16 products",
                           "there such engines compute in f32"),
    "int8 products": Advice("quantised models"),
    "CUDA backend": Advice("engines on NVIDIA GPUs", "engines run on the CPU", REINSTALL),
    "CUDA driver": Advice("engines on NVIDIA GPUs", "engines run on the CPU",
                          "apt-get install nvidia-driver-580, or in a container: docker run --gpus all"),
    "GPU": Advice("engines on NVIDIA GPUs", "engines run on the CPU", "nvidia-smi; unset CUDA_VISIBLE_DEVICES"),
    "NVRTC": Advice("building engines for GPUs, and not for running them", "none can be built here",
                    "pip install nvidia-cuda-nvrtc"),
    "cuBLASLt": Advice("matrix products on GPUs, where it is faster than kernels of ours",
                       "kernels of ours do them all", "pip install nvidia-cublas"),
    "cuDNN": Advice("convolutions and attention on GPUs, where it is faster than kernels of ours",
                    "kernels of ours do them all", "pip install nvidia-cudnn-cu13"),
    "libcamshaft": Advice("everything"),
    "camshaft-trials": Advice("trying kernels of GPUs in a process of their own",
                              "a kernel that faults or hangs ends the build", REINSTALL),
    "TensorRT's sonames": Advice("programs that were linked with TensorRT 10", "these do not start with Camshaft",
                                 REINSTALL),
    "numpy": Advice("arrays in and out", "camshaft.infer does not run", "pip install numpy"),
    "onnx": Advice("making and changing ONNX models in Python; Camshaft itself reads them without",
                   "only that is missing", "pip install onnx"),
    "onnxruntime": Advice("camshaft compare, as the reference", "errors are against Camshaft in f32",
                          "pip install onnxruntime (onnxruntime-gpu with a GPU)", ("onnxruntime", "onnxruntime-gpu")),
    "openvino": Advice("camshaft compare", "it is left out there", "pip install openvino"),
    "torch": Advice("torch.compile(backend=\"camshaft\"), tensors in and out, camshaft compare --torch",
                    "numpy arrays alone are taken",
                    "pip install torch"),
    "cache folder": Advice("engines and timings of earlier builds", "they are made anew",
                           "export CAMSHAFT_CACHE=/a/folder/of/yours"),
    "cores": Advice("", "", "docker run --cpus=N, or taskset -c 0-N"),
    "memory of the container": Advice("", "", "docker run --memory=16g"),
    "open files": Advice("serving many clients", "", "ulimit -n 65536"),
    "threads": Advice("one thread for each core, and a server's own", "", "ulimit -u unlimited"),
    "address space": Advice("mapping models and engines", "", "ulimit -v unlimited"),
    "locked memory": Advice("copies to and from GPUs that other software pins", "", "ulimit -l unlimited"),
    "/dev/shm": Advice("tensors that servers and PyTorch's loaders share between processes", "",
                       "docker run --shm-size=1g"),
}


def of(name: str) -> Advice:
    return ALL.get(name) or ALL.get(name.rstrip("0123456789").rstrip(), Advice())  # "GPU 3"
