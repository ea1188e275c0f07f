// A stand-in for ONNX Runtime's own header where that is not installed: the part that run.cpp uses, so that it can be built
// and run against a real library. The runtime's first API is a table of 102 functions whose places never change; those that
// nobody here calls are `unused`.

#pragma once
#include <cstddef>
#include <cstdint>

struct OrtEnv;
struct OrtStatus;
struct OrtMemoryInfo;
struct OrtSession;
struct OrtValue;
struct OrtRunOptions;
struct OrtSessionOptions;
struct OrtTensorTypeAndShapeInfo;

enum OrtLoggingLevel { ORT_LOGGING_LEVEL_WARNING = 2 };
enum OrtAllocatorType { OrtArenaAllocator = 1 };
enum OrtMemType { OrtMemTypeDefault = 0 };
enum ONNXTensorElementDataType {
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 = 2,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 = 3,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 = 6,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 = 7,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL = 9,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE = 11,
};

struct OrtApi {
  void* unused_0[2];
  const char* (*GetErrorMessage)(const OrtStatus*);                                                  // 2
  OrtStatus* (*CreateEnv)(OrtLoggingLevel, const char*, OrtEnv**);                                   // 3
  void* unused_4[3];
  OrtStatus* (*CreateSession)(const OrtEnv*, const char*, const OrtSessionOptions*, OrtSession**);   // 7
  void* unused_8[1];
  OrtStatus* (*Run)(OrtSession*, const OrtRunOptions*, const char* const*, const OrtValue* const*, size_t,
                    const char* const*, size_t, OrtValue**);                                         // 9
  OrtStatus* (*CreateSessionOptions)(OrtSessionOptions**);                                           // 10
  void* unused_11[13];
  OrtStatus* (*SetIntraOpNumThreads)(OrtSessionOptions*, int);                                       // 24
  void* unused_25[24];
  OrtStatus* (*CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo*, void*, size_t, const int64_t*, size_t,
                                               ONNXTensorElementDataType, OrtValue**);               // 49
  void* unused_50[1];
  OrtStatus* (*GetTensorMutableData)(OrtValue*, void**);                                             // 51
  void* unused_52[8];
  OrtStatus* (*GetTensorElementType)(const OrtTensorTypeAndShapeInfo*, ONNXTensorElementDataType*);  // 60
  OrtStatus* (*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo*, size_t*);                       // 61
  OrtStatus* (*GetDimensions)(const OrtTensorTypeAndShapeInfo*, int64_t*, size_t);                   // 62
  void* unused_63[1];
  OrtStatus* (*GetTensorShapeElementCount)(const OrtTensorTypeAndShapeInfo*, size_t*);               // 64
  OrtStatus* (*GetTensorTypeAndShape)(const OrtValue*, OrtTensorTypeAndShapeInfo**);                 // 65
  void* unused_66[3];
  OrtStatus* (*CreateCpuMemoryInfo)(OrtAllocatorType, OrtMemType, OrtMemoryInfo**);                  // 69
  void* unused_70[22];
  void (*ReleaseEnv)(OrtEnv*);                                                                       // 92
  void (*ReleaseStatus)(OrtStatus*);                                                                 // 93
  void (*ReleaseMemoryInfo)(OrtMemoryInfo*);                                                         // 94
  void (*ReleaseSession)(OrtSession*);                                                               // 95
  void (*ReleaseValue)(OrtValue*);                                                                   // 96
  void* unused_97[2];
  void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo*);                                 // 99
  void (*ReleaseSessionOptions)(OrtSessionOptions*);                                                 // 100
  void* unused_101[1];
};

struct OrtApiBase {
  const OrtApi* (*GetApi)(uint32_t);
  const char* (*GetVersionString)();
};

extern "C" const OrtApiBase* OrtGetApiBase();
