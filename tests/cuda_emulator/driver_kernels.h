// Emulated driver functions about libraries and kernels, launched or in a graph.
#pragma once

#include <cstring>
#include <optional>

#include "cuda_emulator/device/interface.h"
#include "cuda_emulator/driver_state.h"
#include "cuda_emulator/module.h"

namespace camshaft::emulator {

struct LibraryFunctions {
  static CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**,
                                    unsigned, CUlibraryOption*, void**, unsigned) {
    return callDriver("cuLibraryLoadData", "", [&](DriverState& state) {
      auto module = Module::compile(static_cast<const char*>(code));
      *library = state.libraries.create();
      for (const std::string& name : module->kernels()) {
        (*library)->kernels[name].function = module->find(name);
      }
      (*library)->module = std::move(module);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuLibraryUnload(CUlibrary library) {
    return callDriver("cuLibraryUnload", "", [&](DriverState& state) {
      return state.libraries.destroy(library) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
  }
  static CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
    return callDriver("cuLibraryGetKernel", name, [&](DriverState& state) {
      if (!state.libraries.has(library)) return CUDA_ERROR_INVALID_HANDLE;
      const auto found = library->kernels.find(name);
      if (found == library->kernels.end()) return CUDA_ERROR_NOT_FOUND;
      *kernel = &found->second;
      return CUDA_SUCCESS;
    });
  }
};

struct KernelFunctions {
  static CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    return callInContext("cuKernelGetFunction", "", [&](DriverState&) {
      *function = reinterpret_cast<CUfunction>(kernel);
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                       CUdevice) {
    return callDriver("cuKernelSetAttribute", kernel->function.name,
                      [&](DriverState&) { return setAttribute(*kernel, attribute, value); });
  }
  static CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                                     int value) {
    return callDriver("cuFuncSetAttribute", kernelOf(function)->function.name, [&](DriverState&) {
      return setAttribute(*kernelOf(function), attribute, value);
    });
  }
  static CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                     CUfunction function) {
    const CUkern_st& kernel = *kernelOf(function);
    return callDriver("cuFuncGetAttribute", kernel.function.name, [&](DriverState&) {
      switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
          *value = 1024;
          return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
          *value = static_cast<int>(kernel.function.module->sharedBytes - sizeof(ThreadState));
          return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
          *value = 32;
          return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
          *value = 0;
          return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
          *value = kernel.maxDynamicShared;
          return CUDA_SUCCESS;
        default:
          return CUDA_ERROR_INVALID_VALUE;
      }
    });
  }

  // As if every multiprocessor held one block.
  static CUresult cuOccupancyMaxActiveClusters(int* count, CUfunction function,
                                               const CUlaunchConfig* config) {
    return callDriver(
        "cuOccupancyMaxActiveClusters", kernelOf(function)->function.name, [&](DriverState& state) {
          int blocks = 1;
          for (unsigned i = 0; i < config->numAttrs; ++i) {
            const CUlaunchAttribute& attribute = config->attrs[i];
            if (attribute.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
            const auto& size = attribute.value.clusterDim;
            blocks = static_cast<int>(size.x * size.y * size.z);
          }
          if (blocks < 1) return CUDA_ERROR_INVALID_VALUE;
          *count = state.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] / blocks;
          return CUDA_SUCCESS;
        });
  }

  static CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset,
                                       size_t* size) {
    return callDriver("cuKernelGetParamInfo", "", [&](DriverState&) {
      const std::vector<size_t>& sizes = kernel->function.parameterSizes;
      if (index >= sizes.size()) return CUDA_ERROR_INVALID_VALUE;
      *offset = 0;  // nobody asks
      *size = sizes[index];
      return CUDA_SUCCESS;
    });
  }

  static CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction handle,
                                   void** parameters, void** extra) {
    const CUkern_st& kernel = *kernelOf(handle);
    const auto values = extra ? std::nullopt : copyOf(kernel, parameters);
    if (!values || config->sharedMemBytes > static_cast<unsigned>(kernel.maxDynamicShared) ||
        !isClusterPossible(*config)) {
      return callDriver("cuLaunchKernelEx", kernel.function.name + " refused",
                        [](DriverState&) { return CUDA_ERROR_INVALID_VALUE; });
    }
    const CUDA_KERNEL_NODE_PARAMS shape = {.func = kernel.onlyIn ? handle : nullptr,
                                           .gridDimX = config->gridDimX,
                                           .gridDimY = config->gridDimY,
                                           .gridDimZ = config->gridDimZ,
                                           .blockDimX = config->blockDimX,
                                           .blockDimY = config->blockDimY,
                                           .blockDimZ = config->blockDimZ,
                                           .sharedMemBytes = config->sharedMemBytes,
                                           .kern = kernel.onlyIn ? nullptr : kernelOf(handle),
                                           .ctx = currentContext()};
    return enqueue(config->hStream, "cuLaunchKernelEx", launchText(kernel.function, *config),
                   launching(kernel.function, shape, *values), [&](CUgraphNode_st& node) {
                     fillNode(node, shape, *values);
                     addAttributes(node, *config);
                   });
  }

  static CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
    return callDriver("cuGraphKernelNodeGetParams", "", [&](DriverState&) {
      *params = node->kernel;
      return node->type == CU_GRAPH_NODE_TYPE_KERNEL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
  }
  static CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID which,
                                                CUlaunchAttributeValue* value) {
    return callDriver("cuGraphKernelNodeGetAttribute", "", [&](DriverState&) {
      const auto found = node->attributes.find(which);
      if (found == node->attributes.end())
        std::memset(value, 0, sizeof *value);
      else
        *value = found->second;
      return CUDA_SUCCESS;
    });
  }
  static CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID which,
                                                const CUlaunchAttributeValue* value) {
    return callDriver("cuGraphKernelNodeSetAttribute", std::to_string(which), [&](DriverState&) {
      if (which == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        return CUDA_ERROR_INVALID_VALUE;  // that is an edge's affair
      node->attributes[which] = *value;
      const CUDA_KERNEL_NODE_PARAMS& kernel = node->kernel;
      CUlaunchAttribute attribute{.id = which, .value = *value};
      const CUlaunchConfig config{.gridDimX = kernel.gridDimX,
                                  .gridDimY = kernel.gridDimY,
                                  .gridDimZ = kernel.gridDimZ,
                                  .attrs = &attribute,
                                  .numAttrs = 1};
      if (!isClusterPossible(config)) return CUDA_ERROR_INVALID_VALUE;
      node->call.details += attributeText(attribute);
      return CUDA_SUCCESS;
    });
  }

 protected:
  using Values = std::vector<std::vector<char>>;

  // The driver copies parameters when it is called: a graph replays these values.
  static std::optional<Values> copyOf(const CUkern_st& kernel, void** parameters) {
    Values values;
    if (!parameters && !kernel.function.parameterSizes.empty()) return std::nullopt;
    for (size_t i = 0; i < kernel.function.parameterSizes.size(); ++i) {
      const char* bytes = static_cast<const char*>(parameters[i]);
      values.emplace_back(bytes, bytes + kernel.function.parameterSizes[i]);
    }
    return values;
  }

  static std::function<CUresult()> launching(const Function& function,
                                             const CUDA_KERNEL_NODE_PARAMS& shape, Values values) {
    return [function, shape, values = std::move(values)]() mutable {
      std::vector<void*> addresses;
      for (auto& value : values) addresses.push_back(value.data());
      const unsigned grid[3] = {shape.gridDimX, shape.gridDimY, shape.gridDimZ};
      const unsigned block[3] = {shape.blockDimX, shape.blockDimY, shape.blockDimZ};
      launch(function, grid, block, shape.sharedMemBytes, addresses.data());
      return CUDA_SUCCESS;
    };
  }

  static void fillNode(CUgraphNode_st& node, const CUDA_KERNEL_NODE_PARAMS& shape, Values values) {
    node.type = CU_GRAPH_NODE_TYPE_KERNEL;
    node.kernel = shape;
    node.values = std::move(values);
    for (auto& value : node.values) node.valueAddresses.push_back(value.data());
    node.kernel.kernelParams = node.valueAddresses.data();
  }

  static std::string launchText(const Function& function, const CUlaunchConfig& config) {
    std::string text = function.name + " grid " +
                       sizeText(config.gridDimX, config.gridDimY, config.gridDimZ) + " block " +
                       sizeText(config.blockDimX, config.blockDimY, config.blockDimZ) + " shared " +
                       std::to_string(config.sharedMemBytes);
    for (unsigned i = 0; i < config.numAttrs; ++i) text += attributeText(config.attrs[i]);
    return text;
  }

 private:
  static CUresult setAttribute(CUkern_st& kernel, CUfunction_attribute attribute, int value) {
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
    if (value < 0 || static_cast<size_t>(value) > kMaxSharedBytes) return CUDA_ERROR_INVALID_VALUE;
    kernel.maxDynamicShared = value;
    return CUDA_SUCCESS;
  }

  static bool isClusterPossible(const CUlaunchConfig& config) {
    for (unsigned i = 0; i < config.numAttrs; ++i) {
      if (config.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
      const auto& size = config.attrs[i].value.clusterDim;
      if (size.x == 0 || size.y == 0 || size.z == 0 || size.x * size.y * size.z > 16) return false;
      if (config.gridDimX % size.x || config.gridDimY % size.y || config.gridDimZ % size.z) {
        return false;
      }
    }
    return true;
  }

  static std::string sizeText(unsigned x, unsigned y, unsigned z) {
    return std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z);
  }
  static std::string attributeText(const CUlaunchAttribute& attribute) {
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& cluster = attribute.value.clusterDim;
      return " cluster " + sizeText(cluster.x, cluster.y, cluster.z);
    }
    const bool isProgrammatic =
        attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
        attribute.value.programmaticStreamSerializationAllowed;
    return isProgrammatic ? " programmatic" : "";
  }

  // A captured launch that may overlap with one kernel before it has such an edge.
  static void addAttributes(CUgraphNode_st& node, const CUlaunchConfig& config) {
    for (unsigned i = 0; i < config.numAttrs; ++i) {
      const CUlaunchAttribute& attribute = config.attrs[i];
      if (attribute.id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
        node.attributes[attribute.id] = attribute.value;
      } else if (attribute.value.programmaticStreamSerializationAllowed) {
        for (size_t edge = 0; edge < node.edges.size(); ++edge)
          if (node.after[edge]->type == CU_GRAPH_NODE_TYPE_KERNEL)
            node.edges[edge] = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
      }
    }
  }
};

}  // namespace camshaft::emulator
