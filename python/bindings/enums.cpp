// Every public enum under its Python name, kFLOAT as FLOAT, but for those of layers.
#include "enums.h"

namespace camshaft::python {

using namespace nvinfer1;

namespace {

void bindTypes(nb::module_& m) {
  Enum<DataType> dataType(m, "DataType");
  dataType.value("FLOAT", DataType::kFLOAT)
      .value("HALF", DataType::kHALF)
      .value("INT8", DataType::kINT8)
      .value("INT32", DataType::kINT32)
      .value("BOOL", DataType::kBOOL)
      .value("UINT8", DataType::kUINT8)
      .value("FP8", DataType::kFP8)
      .value("BF16", DataType::kBF16)
      .value("INT64", DataType::kINT64)
      .value("INT4", DataType::kINT4)
      .value("FP4", DataType::kFP4)
      .value("E8M0", DataType::kE8M0)
      .value("DOUBLE", DataType::kDOUBLE)
      .value("INT16", DataType::kINT16)
      .value("UINT16", DataType::kUINT16)
      .value("UINT32", DataType::kUINT32)
      .value("UINT64", DataType::kUINT64)
      .value("FP8E5M2", DataType::kFP8E5M2)
      .value("UINT4", DataType::kUINT4)
      .value("FP8E4M3FNUZ", DataType::kFP8E4M3FNUZ)
      .value("FP8E5M2FNUZ", DataType::kFP8E5M2FNUZ)
      .value("INT2", DataType::kINT2)
      .value("UINT2", DataType::kUINT2);
  dataType.def_prop_ro(
      "itemsize",
      [](DataType type) { return nb::module_::import_("camshaft._types").attr("_itemsize")(type); },
      nb::sig("def itemsize(self) -> float"),
      "Bytes per element; a fraction for types of 2 and 4 bits.");
  Enum<ErrorCode>(m, "ErrorCodeTRT")
      .value("SUCCESS", ErrorCode::kSUCCESS)
      .value("UNSPECIFIED_ERROR", ErrorCode::kUNSPECIFIED_ERROR)
      .value("INTERNAL_ERROR", ErrorCode::kINTERNAL_ERROR)
      .value("INVALID_ARGUMENT", ErrorCode::kINVALID_ARGUMENT)
      .value("INVALID_CONFIG", ErrorCode::kINVALID_CONFIG)
      .value("FAILED_ALLOCATION", ErrorCode::kFAILED_ALLOCATION)
      .value("FAILED_INITIALIZATION", ErrorCode::kFAILED_INITIALIZATION)
      .value("FAILED_EXECUTION", ErrorCode::kFAILED_EXECUTION)
      .value("FAILED_COMPUTATION", ErrorCode::kFAILED_COMPUTATION)
      .value("INVALID_STATE", ErrorCode::kINVALID_STATE)
      .value("UNSUPPORTED_STATE", ErrorCode::kUNSUPPORTED_STATE);
  Enum<TensorIOMode>(m, "TensorIOMode")
      .value("NONE", TensorIOMode::kNONE)
      .value("INPUT", TensorIOMode::kINPUT)
      .value("OUTPUT", TensorIOMode::kOUTPUT);
  Enum<TensorLocation>(m, "TensorLocation")
      .value("DEVICE", TensorLocation::kDEVICE)
      .value("HOST", TensorLocation::kHOST);
  Enum<DeviceType>(m, "DeviceType")
      .value("GPU", DeviceType::kGPU)
      .value("DLA", DeviceType::kDLA)
      .value("CPU", DeviceType::kCPU);
  Enum<TensorFormat>(m, "TensorFormat")
      .value("LINEAR", TensorFormat::kLINEAR)
      .value("CHW2", TensorFormat::kCHW2)
      .value("HWC8", TensorFormat::kHWC8)
      .value("CHW4", TensorFormat::kCHW4)
      .value("CHW16", TensorFormat::kCHW16)
      .value("CHW32", TensorFormat::kCHW32)
      .value("DHWC8", TensorFormat::kDHWC8)
      .value("CDHW32", TensorFormat::kCDHW32)
      .value("HWC", TensorFormat::kHWC)
      .value("DLA_LINEAR", TensorFormat::kDLA_LINEAR)
      .value("DLA_HWC4", TensorFormat::kDLA_HWC4)
      .value("HWC16", TensorFormat::kHWC16)
      .value("DHWC", TensorFormat::kDHWC);
  Enum<OptProfileSelector>(m, "OptProfileSelector")
      .value("MIN", OptProfileSelector::kMIN)
      .value("OPT", OptProfileSelector::kOPT)
      .value("MAX", OptProfileSelector::kMAX);
  Enum<ProfilingVerbosity>(m, "ProfilingVerbosity")
      .value("LAYER_NAMES_ONLY", ProfilingVerbosity::kLAYER_NAMES_ONLY)
      .value("NONE", ProfilingVerbosity::kNONE)
      .value("DETAILED", ProfilingVerbosity::kDETAILED);
  Enum<ExecutionContextAllocationStrategy>(m, "ExecutionContextAllocationStrategy")
      .value("STATIC", ExecutionContextAllocationStrategy::kSTATIC)
      .value("ON_PROFILE_CHANGE", ExecutionContextAllocationStrategy::kON_PROFILE_CHANGE)
      .value("USER_MANAGED", ExecutionContextAllocationStrategy::kUSER_MANAGED);
  Enum<LayerInformationFormat>(m, "LayerInformationFormat")
      .value("ONELINE", LayerInformationFormat::kONELINE)
      .value("JSON", LayerInformationFormat::kJSON);
  Enum<APILanguage>(m, "APILanguage")
      .value("CPP", APILanguage::kCPP)
      .value("PYTHON", APILanguage::kPYTHON);
  Enum<AllocatorFlag>(m, "AllocatorFlag").value("RESIZABLE", AllocatorFlag::kRESIZABLE);
  Enum<SeekPosition>(m, "SeekPosition")
      .value("SET", SeekPosition::kSET)
      .value("CUR", SeekPosition::kCUR)
      .value("END", SeekPosition::kEND);
  Enum<EngineCapability>(m, "EngineCapability")
      .value("STANDARD", EngineCapability::kSTANDARD)
      .value("SAFETY", EngineCapability::kSAFETY)
      .value("DLA_STANDALONE", EngineCapability::kDLA_STANDALONE);
  Enum<WeightsRole>(m, "WeightsRole")
      .value("KERNEL", WeightsRole::kKERNEL)
      .value("BIAS", WeightsRole::kBIAS)
      .value("SHIFT", WeightsRole::kSHIFT)
      .value("SCALE", WeightsRole::kSCALE)
      .value("CONSTANT", WeightsRole::kCONSTANT)
      .value("ANY", WeightsRole::kANY);
  Enum<TacticSource>(m, "TacticSource")
      .value("CUBLAS", TacticSource::kCUBLAS)
      .value("CUBLAS_LT", TacticSource::kCUBLAS_LT)
      .value("CUDNN", TacticSource::kCUDNN)
      .value("EDGE_MASK_CONVOLUTIONS", TacticSource::kEDGE_MASK_CONVOLUTIONS)
      .value("JIT_CONVOLUTIONS", TacticSource::kJIT_CONVOLUTIONS);
  Enum<TempfileControlFlag>(m, "TempfileControlFlag")
      .value("ALLOW_IN_MEMORY_FILES", TempfileControlFlag::kALLOW_IN_MEMORY_FILES)
      .value("ALLOW_TEMPORARY_FILES", TempfileControlFlag::kALLOW_TEMPORARY_FILES);
  Enum<SerializationFlag>(m, "SerializationFlag")
      .value("EXCLUDE_WEIGHTS", SerializationFlag::kEXCLUDE_WEIGHTS)
      .value("EXCLUDE_LEAN_RUNTIME", SerializationFlag::kEXCLUDE_LEAN_RUNTIME)
      .value("INCLUDE_REFIT", SerializationFlag::kINCLUDE_REFIT);
  Enum<EngineStat>(m, "EngineStat")
      .value("TOTAL_WEIGHTS_SIZE", EngineStat::kTOTAL_WEIGHTS_SIZE)
      .value("STRIPPED_WEIGHTS_SIZE", EngineStat::kSTRIPPED_WEIGHTS_SIZE);
}

void bindBuildSettings(nb::module_& m) {
  Enum<NetworkDefinitionCreationFlag>(m, "NetworkDefinitionCreationFlag")
      .value("EXPLICIT_BATCH", NetworkDefinitionCreationFlag::kEXPLICIT_BATCH)
      .value("STRONGLY_TYPED", NetworkDefinitionCreationFlag::kSTRONGLY_TYPED)
      .value("PREFER_JIT_PYTHON_PLUGINS", NetworkDefinitionCreationFlag::kPREFER_JIT_PYTHON_PLUGINS)
      .value("PREFER_AOT_PYTHON_PLUGINS",
             NetworkDefinitionCreationFlag::kPREFER_AOT_PYTHON_PLUGINS);
  Enum<BuilderFlag> builderFlag(m, "BuilderFlag");
  builderFlag.value("FP16", BuilderFlag::kFP16)
      .value("INT8", BuilderFlag::kINT8)
      .value("DEBUG", BuilderFlag::kDEBUG)
      .value("GPU_FALLBACK", BuilderFlag::kGPU_FALLBACK)
      .value("REFIT", BuilderFlag::kREFIT)
      .value("DISABLE_TIMING_CACHE", BuilderFlag::kDISABLE_TIMING_CACHE)
      .value("TF32", BuilderFlag::kTF32)
      .value("SPARSE_WEIGHTS", BuilderFlag::kSPARSE_WEIGHTS)
      .value("SAFETY_SCOPE", BuilderFlag::kSAFETY_SCOPE)
      .value("OBEY_PRECISION_CONSTRAINTS", BuilderFlag::kOBEY_PRECISION_CONSTRAINTS)
      .value("PREFER_PRECISION_CONSTRAINTS", BuilderFlag::kPREFER_PRECISION_CONSTRAINTS)
      .value("DIRECT_IO", BuilderFlag::kDIRECT_IO)
      .value("REJECT_EMPTY_ALGORITHMS", BuilderFlag::kREJECT_EMPTY_ALGORITHMS)
      .value("VERSION_COMPATIBLE", BuilderFlag::kVERSION_COMPATIBLE)
      .value("EXCLUDE_LEAN_RUNTIME", BuilderFlag::kEXCLUDE_LEAN_RUNTIME)
      .value("FP8", BuilderFlag::kFP8)
      .value("ERROR_ON_TIMING_CACHE_MISS", BuilderFlag::kERROR_ON_TIMING_CACHE_MISS)
      .value("BF16", BuilderFlag::kBF16)
      .value("DISABLE_COMPILATION_CACHE", BuilderFlag::kDISABLE_COMPILATION_CACHE)
      .value("STRIP_PLAN", BuilderFlag::kSTRIP_PLAN)
      .value("REFIT_IDENTICAL", BuilderFlag::kREFIT_IDENTICAL)
      .value("WEIGHT_STREAMING", BuilderFlag::kWEIGHT_STREAMING)
      .value("INT4", BuilderFlag::kINT4)
      .value("REFIT_INDIVIDUAL", BuilderFlag::kREFIT_INDIVIDUAL)
      .value("STRICT_NANS", BuilderFlag::kSTRICT_NANS)
      .value("MONITOR_MEMORY", BuilderFlag::kMONITOR_MEMORY)
      .value("FP4", BuilderFlag::kFP4)
      .value("EDITABLE_TIMING_CACHE", BuilderFlag::kEDITABLE_TIMING_CACHE)
      .value("DISTRIBUTIVE_INDEPENDENCE", BuilderFlag::kDISTRIBUTIVE_INDEPENDENCE);
  builderFlag.alias("WEIGHTLESS", "STRIP_PLAN");
  Enum<MemoryPoolType>(m, "MemoryPoolType")
      .value("WORKSPACE", MemoryPoolType::kWORKSPACE)
      .value("DLA_MANAGED_SRAM", MemoryPoolType::kDLA_MANAGED_SRAM)
      .value("DLA_LOCAL_DRAM", MemoryPoolType::kDLA_LOCAL_DRAM)
      .value("DLA_GLOBAL_DRAM", MemoryPoolType::kDLA_GLOBAL_DRAM)
      .value("TACTIC_DRAM", MemoryPoolType::kTACTIC_DRAM)
      .value("TACTIC_SHARED_MEMORY", MemoryPoolType::kTACTIC_SHARED_MEMORY);
  Enum<RuntimePlatform>(m, "RuntimePlatform")
      .value("SAME_AS_BUILD", RuntimePlatform::kSAME_AS_BUILD)
      .value("WINDOWS_AMD64", RuntimePlatform::kWINDOWS_AMD64);
  Enum<PreviewFeature>(m, "PreviewFeature")
      .value("PROFILE_SHARING_0806", PreviewFeature::kPROFILE_SHARING_0806)
      .value("ALIASED_PLUGIN_IO_10_03", PreviewFeature::kALIASED_PLUGIN_IO_10_03)
      .value("RUNTIME_ACTIVATION_RESIZE_10_10", PreviewFeature::kRUNTIME_ACTIVATION_RESIZE_10_10)
      .value("MULTIDEVICE_RUNTIME_10_16", PreviewFeature::kMULTIDEVICE_RUNTIME_10_16);
  Enum<HardwareCompatibilityLevel>(m, "HardwareCompatibilityLevel")
      .value("NONE", HardwareCompatibilityLevel::kNONE)
      .value("AMPERE_PLUS", HardwareCompatibilityLevel::kAMPERE_PLUS)
      .value("SAME_COMPUTE_CAPABILITY", HardwareCompatibilityLevel::kSAME_COMPUTE_CAPABILITY);
  Enum<TilingOptimizationLevel>(m, "TilingOptimizationLevel")
      .value("NONE", TilingOptimizationLevel::kNONE)
      .value("FAST", TilingOptimizationLevel::kFAST)
      .value("MODERATE", TilingOptimizationLevel::kMODERATE)
      .value("FULL", TilingOptimizationLevel::kFULL);
  Enum<CalibrationAlgoType>(m, "CalibrationAlgoType")
      .value("LEGACY_CALIBRATION", CalibrationAlgoType::kLEGACY_CALIBRATION)
      .value("ENTROPY_CALIBRATION", CalibrationAlgoType::kENTROPY_CALIBRATION)
      .value("ENTROPY_CALIBRATION_2", CalibrationAlgoType::kENTROPY_CALIBRATION_2)
      .value("MINMAX_CALIBRATION", CalibrationAlgoType::kMINMAX_CALIBRATION);
  Enum<QuantizationFlag>(m, "QuantizationFlag")
      .value("CALIBRATE_BEFORE_FUSION", QuantizationFlag::kCALIBRATE_BEFORE_FUSION);
}

void bindPluginEnums(nb::module_& m) {
  Enum<DimensionOperation>(m, "DimensionOperation")
      .value("SUM", DimensionOperation::kSUM)
      .value("PROD", DimensionOperation::kPROD)
      .value("MAX", DimensionOperation::kMAX)
      .value("MIN", DimensionOperation::kMIN)
      .value("SUB", DimensionOperation::kSUB)
      .value("EQUAL", DimensionOperation::kEQUAL)
      .value("LESS", DimensionOperation::kLESS)
      .value("FLOOR_DIV", DimensionOperation::kFLOOR_DIV)
      .value("CEIL_DIV", DimensionOperation::kCEIL_DIV);
  Enum<PluginFieldType>(m, "PluginFieldType")
      .value("FLOAT16", PluginFieldType::kFLOAT16)
      .value("FLOAT32", PluginFieldType::kFLOAT32)
      .value("FLOAT64", PluginFieldType::kFLOAT64)
      .value("INT8", PluginFieldType::kINT8)
      .value("INT16", PluginFieldType::kINT16)
      .value("INT32", PluginFieldType::kINT32)
      .value("CHAR", PluginFieldType::kCHAR)
      .value("DIMS", PluginFieldType::kDIMS)
      .value("UNKNOWN", PluginFieldType::kUNKNOWN)
      .value("BF16", PluginFieldType::kBF16)
      .value("INT64", PluginFieldType::kINT64)
      .value("FP8", PluginFieldType::kFP8)
      .value("INT4", PluginFieldType::kINT4)
      .value("FP4", PluginFieldType::kFP4);
  Enum<PluginCapabilityType>(m, "PluginCapabilityType")
      .value("CORE", PluginCapabilityType::kCORE)
      .value("BUILD", PluginCapabilityType::kBUILD)
      .value("RUNTIME", PluginCapabilityType::kRUNTIME);
  Enum<PluginCreatorVersion>(m, "PluginCreatorVersion")
      .value("V1", PluginCreatorVersion::kV1)
      .value("V1_PYTHON", PluginCreatorVersion::kV1_PYTHON);
  Enum<TensorRTPhase>(m, "TensorRTPhase")
      .value("BUILD", TensorRTPhase::kBUILD)
      .value("RUNTIME", TensorRTPhase::kRUNTIME);
}

void bindParserEnums(nb::module_& m) {
  Enum<nvonnxparser::ErrorCode>(m, "ErrorCode")
      .value("SUCCESS", nvonnxparser::ErrorCode::kSUCCESS)
      .value("INTERNAL_ERROR", nvonnxparser::ErrorCode::kINTERNAL_ERROR)
      .value("MEM_ALLOC_FAILED", nvonnxparser::ErrorCode::kMEM_ALLOC_FAILED)
      .value("MODEL_DESERIALIZE_FAILED", nvonnxparser::ErrorCode::kMODEL_DESERIALIZE_FAILED)
      .value("INVALID_VALUE", nvonnxparser::ErrorCode::kINVALID_VALUE)
      .value("INVALID_GRAPH", nvonnxparser::ErrorCode::kINVALID_GRAPH)
      .value("INVALID_NODE", nvonnxparser::ErrorCode::kINVALID_NODE)
      .value("UNSUPPORTED_GRAPH", nvonnxparser::ErrorCode::kUNSUPPORTED_GRAPH)
      .value("UNSUPPORTED_NODE", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE)
      .value("UNSUPPORTED_NODE_ATTR", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_ATTR)
      .value("UNSUPPORTED_NODE_INPUT", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_INPUT)
      .value("UNSUPPORTED_NODE_DATATYPE", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_DATATYPE)
      .value("UNSUPPORTED_NODE_DYNAMIC", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_DYNAMIC)
      .value("UNSUPPORTED_NODE_SHAPE", nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_SHAPE)
      .value("REFIT_FAILED", nvonnxparser::ErrorCode::kREFIT_FAILED);
  Enum<nvonnxparser::OnnxParserFlag>(m, "OnnxParserFlag")
      .value("NATIVE_INSTANCENORM", nvonnxparser::OnnxParserFlag::kNATIVE_INSTANCENORM)
      .value("ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA",
             nvonnxparser::OnnxParserFlag::kENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA)
      .value("REPORT_CAPABILITY_DLA", nvonnxparser::OnnxParserFlag::kREPORT_CAPABILITY_DLA)
      .value("ENABLE_PLUGIN_OVERRIDE", nvonnxparser::OnnxParserFlag::kENABLE_PLUGIN_OVERRIDE)
      .value("ADJUST_FOR_DLA", nvonnxparser::OnnxParserFlag::kADJUST_FOR_DLA)
      .value("CAMSHAFT_FIXED_CACHES", nvonnxparser::OnnxParserFlag::kCAMSHAFT_FIXED_CACHES);
}

}  // namespace

void bindEnums(nb::module_& m) {
  bindTypes(m);
  bindBuildSettings(m);
  bindPluginEnums(m);
  bindParserEnums(m);
  bindLayerEnums(m);
}

}  // namespace camshaft::python
