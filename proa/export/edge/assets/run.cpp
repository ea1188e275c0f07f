// Runs the model on the inputs of check.txt and compares the results: run [folder]
//
// ONNX Runtime's C API, nothing else. `Model` is all that a program of your own needs.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "onnxruntime_c_api.h"

const double kTolerance = 1e-3;
// The first version of the API has all that is needed here, and every runtime since has it.
const OrtApi* const kApi = OrtGetApiBase()->GetApi(1);

void check(OrtStatus* status) {
  if (status == nullptr) return;
  const std::string text = kApi->GetErrorMessage(status);
  kApi->ReleaseStatus(status);
  throw std::runtime_error(text);
}

struct Type {
  ONNXTensorElementDataType code;
  size_t bytes;
};

const std::map<std::string, Type> kTypes = {
    {"float32", {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, 4}}, {"float64", {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, 8}},
    {"int32", {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, 4}},   {"int64", {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, 8}},
    {"uint8", {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, 1}},   {"int8", {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, 1}},
    {"bool", {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, 1}},
};

// An array: its numbers lie in `bytes`, row by row.
struct Array {
  std::string name, type;
  std::vector<int64_t> shape;
  std::vector<char> bytes;

  size_t count() const { return bytes.size() / kTypes.at(type).bytes; }

  double number(size_t i) const {
    const char* at = bytes.data() + i * kTypes.at(type).bytes;
    if (type == "float32") { float x; std::memcpy(&x, at, 4); return x; }
    if (type == "float64") { double x; std::memcpy(&x, at, 8); return x; }
    if (type == "int32") { int32_t x; std::memcpy(&x, at, 4); return x; }
    if (type == "int64") { int64_t x; std::memcpy(&x, at, 8); return double(x); }
    return type == "int8" ? double(*reinterpret_cast<const signed char*>(at)) : double(*reinterpret_cast<const unsigned char*>(at));
  }
};

// A loaded model. `run` may be called from several threads.
class Model {
 public:
  explicit Model(const std::string& path, int threads = 0) {
    check(kApi->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "model", &env_));
    OrtSessionOptions* options = nullptr;
    check(kApi->CreateSessionOptions(&options));
    check(kApi->SetIntraOpNumThreads(options, threads));
    OrtStatus* status = kApi->CreateSession(env_, path.c_str(), options, &session_);
    kApi->ReleaseSessionOptions(options);
    check(status);
    check(kApi->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory_));
  }

  ~Model() {
    if (memory_) kApi->ReleaseMemoryInfo(memory_);
    if (session_) kApi->ReleaseSession(session_);
    if (env_) kApi->ReleaseEnv(env_);
  }

  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Results are asked for by name and type; their shapes are what the model says.
  void run(std::vector<Array>& inputs, std::vector<Array>& outputs) {
    std::vector<const char*> input_names, output_names;
    std::vector<OrtValue*> given, found(outputs.size(), nullptr);
    for (Array& input : inputs) {
      OrtValue* value = nullptr;
      check(kApi->CreateTensorWithDataAsOrtValue(memory_, input.bytes.data(), input.bytes.size(), input.shape.data(),
                                                 input.shape.size(), kTypes.at(input.type).code, &value));
      given.push_back(value);
      input_names.push_back(input.name.c_str());
    }
    for (const Array& output : outputs) output_names.push_back(output.name.c_str());
    OrtStatus* status = kApi->Run(session_, nullptr, input_names.data(), given.data(), given.size(),
                                  output_names.data(), output_names.size(), found.data());
    for (OrtValue* value : given) kApi->ReleaseValue(value);
    check(status);
    for (size_t i = 0; i < outputs.size(); i++) {
      take(found[i], outputs[i]);
      kApi->ReleaseValue(found[i]);
    }
  }

 private:
  static void take(OrtValue* value, Array& output) {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    check(kApi->GetTensorTypeAndShape(value, &info));
    size_t rank = 0, count = 0;
    ONNXTensorElementDataType code;
    check(kApi->GetDimensionsCount(info, &rank));
    output.shape.resize(rank);
    check(kApi->GetDimensions(info, output.shape.data(), rank));
    check(kApi->GetTensorShapeElementCount(info, &count));
    check(kApi->GetTensorElementType(info, &code));
    kApi->ReleaseTensorTypeAndShapeInfo(info);
    const Type type = kTypes.at(output.type);
    if (code != type.code) throw std::runtime_error(output.name + " has another type than " + output.type);
    void* data = nullptr;
    check(kApi->GetTensorMutableData(value, &data));
    output.bytes.assign(static_cast<char*>(data), static_cast<char*>(data) + count * type.bytes);
  }

  OrtEnv* env_ = nullptr;
  OrtSession* session_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;
};

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The arrays of check.txt: `input|output NAME TYPE FILE SIZE …` on each line.
std::vector<Array> read_arrays(const std::string& folder, const std::string& kind) {
  const std::vector<char> text = read_file(folder + "/check.txt");
  std::istringstream lines(std::string(text.begin(), text.end()));
  std::vector<Array> found;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, file;
    Array array;
    words >> what >> array.name >> array.type >> file;
    if (what != kind) continue;
    int64_t elements = 1;
    for (int64_t size; words >> size;) {
      array.shape.push_back(size);
      elements *= size;
    }
    array.bytes = read_file(folder + "/" + file);
    if (!kTypes.count(array.type) || array.bytes.size() != size_t(elements) * kTypes.at(array.type).bytes) {
      throw std::runtime_error(file + " does not hold what check.txt says");
    }
    found.push_back(array);
  }
  return found;
}

double difference(const Array& found, const Array& right) {
  if (found.shape != right.shape) return std::numeric_limits<double>::infinity();
  double gap = 0, largest = 1e-6;
  for (size_t i = 0; i < right.count(); i++) {
    const double one = std::fabs(found.number(i) - right.number(i));
    gap = std::isnan(one) ? std::numeric_limits<double>::infinity() : std::max(gap, one);
    largest = std::max(largest, std::fabs(right.number(i)));
  }
  return gap / largest;
}

int main(int count, char** words) {
  const std::string folder = count > 1 ? words[1] : ".";
  try {
    const std::string own = folder + "/model.ort";
    Model model(std::ifstream(own) ? own : folder + "/model.onnx");
    std::vector<Array> inputs = read_arrays(folder, "input"), right = read_arrays(folder, "output"), found = right;
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 11; i++) {
      const auto started = std::chrono::steady_clock::now();
      model.run(inputs, found);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
      if (i) best = std::min(best, took.count());
    }
    double worst = 0;
    for (size_t i = 0; i < right.size(); i++) worst = std::max(worst, difference(found[i], right[i]));
    std::printf("largest relative difference %.1e, best of 10 runs %.2f ms\n", worst, best * 1000);
    return worst <= kTolerance ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
