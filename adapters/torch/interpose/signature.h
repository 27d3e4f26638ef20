// From the C++ type the dispatcher keeps for an op to its ABI class (which trampoline
// fits) and the kind of each argument slot (how to read it back).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nanscope::torch_adapter {

enum class SlotKind : std::uint8_t {
  kTensor,
  kOptionalTensor,
  kTensorList,          // ArrayRef<Tensor>
  kTensorListRef,       // IListRef<Tensor>
  kOptionalTensorList,  // List<optional<Tensor>>
  kScalar,
  kOptionalScalar,
  kScalarList,
  kDouble,
  kOptionalDouble,
  kInt,
  kOptionalInt,
  kIntList,
  kOptionalIntList,
  kBool,
  kOther,
};

struct Signature {
  std::string abi_class;  // empty: no trampoline can serve it
  std::vector<SlotKind> slots;
};

// `text` is the demangled function type: "at::Tensor (at::Tensor const&, double)".
[[nodiscard]] Signature read_signature(const std::string& text);

}  // namespace nanscope::torch_adapter
