#pragma once

// Settings that old programs hand around with a model. The parser itself takes none of them.

#include "NvInfer.h"

namespace nvonnxparser {

// Plain storage. A string is copied, and is null before it was set.
class CAMSHAFT_API IOnnxConfig {
 public:
  virtual ~IOnnxConfig() noexcept = default;
  typedef int32_t Verbosity;

  virtual void setModelDtype(const nvinfer1::DataType modelDtype) noexcept = 0;
  virtual nvinfer1::DataType getModelDtype() const noexcept = 0;
  virtual const char* getModelFileName() const noexcept = 0;
  virtual void setModelFileName(const char* onnxFilename) noexcept = 0;
  virtual Verbosity getVerbosityLevel() const noexcept = 0;
  virtual void addVerbosity() noexcept = 0;
  virtual void reduceVerbosity() noexcept = 0;
  virtual void setVerbosityLevel(Verbosity verbosity) noexcept = 0;
  virtual const char* getTextFileName() const noexcept = 0;
  virtual void setTextFileName(const char* textFileName) noexcept = 0;
  virtual const char* getFullTextFileName() const noexcept = 0;
  virtual void setFullTextFileName(const char* fullTextFileName) noexcept = 0;
  virtual bool getPrintLayerInfo() const noexcept = 0;
  virtual void setPrintLayerInfo(bool print) noexcept = 0;
};

CAMSHAFT_API IOnnxConfig* createONNXConfig();

}  // namespace nvonnxparser
