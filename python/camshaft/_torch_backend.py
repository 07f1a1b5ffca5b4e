"""The entry point of ``torch.compile(backend="camshaft")``: outside of camshaft.torch, whose import
registers the backend, which PyTorch would do a second time."""


def camshaft_backend(graph_module, example_inputs, **options):
    from .torch._backend import camshaft_backend as compile_graph

    return compile_graph(graph_module, example_inputs, **options)
