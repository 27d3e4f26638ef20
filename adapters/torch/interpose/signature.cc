#include "adapters/torch/interpose/signature.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <unordered_map>

namespace nanscope::torch_adapter {
namespace {

// The facts Note [ABI classes] rests on, type by type.
template <class T>
constexpr bool kTrivial = std::is_trivially_copy_constructible_v<T>&&
    std::is_trivially_move_constructible_v<T>&& std::is_trivially_destructible_v<T>;
template <class T>
constexpr bool kOneWord = !kTrivial<T> || sizeof(T) <= 8;
template <class T>
constexpr bool kTwoWords = kTrivial<T> && sizeof(T) == 16;
template <class T>
constexpr bool kThreeWords = kTrivial<T> && sizeof(T) == 24;

static_assert(kOneWord<bool> && kOneWord<std::int64_t> && kOneWord<at::ScalarType> &&
              kOneWord<std::optional<at::ScalarType>> && kOneWord<std::optional<at::Layout>> &&
              kOneWord<std::optional<at::Device>> && kOneWord<std::optional<bool>> &&
              kOneWord<std::optional<at::MemoryFormat>> && kOneWord<std::array<bool, 3>> &&
              kOneWord<at::Device> && kOneWord<c10::DispatchKeySet>);
static_assert(!kTrivial<at::Tensor> && !kTrivial<c10::SymInt> && !kTrivial<at::Storage> &&
              !kTrivial<std::optional<c10::SymInt>> && !kTrivial<std::optional<at::Generator>> &&
              !kTrivial<std::vector<at::Tensor>> && !kTrivial<c10::Scalar> &&
              !kTrivial<std::tuple<at::Tensor, at::Tensor>>);
static_assert(kTwoWords<at::IntArrayRef> && kTwoWords<at::TensorList> &&
              kTwoWords<c10::SymIntArrayRef> && kTwoWords<std::optional<std::int64_t>> &&
              kTwoWords<std::string_view> && kTwoWords<at::ArrayRef<at::Scalar>>);
static_assert(kThreeWords<at::OptionalIntArrayRef> && kThreeWords<at::OptionalSymIntArrayRef> &&
              kThreeWords<std::optional<at::ArrayRef<double>>> &&
              kThreeWords<std::optional<std::string_view>>);
static_assert(sizeof(at::Tensor) == 8 && sizeof(std::vector<at::Tensor>) == 24 &&
              sizeof(std::optional<double>) == 16 && kTrivial<std::optional<double>>);

std::vector<std::string> split_arguments(const std::string& text) {
  std::vector<std::string> parts;
  std::string current;
  int depth = 0;
  for (const char c : text) {
    depth += c == '<' || c == '(';
    depth -= c == '>' || c == ')';
    if (c == ',' && depth == 0) {
      parts.push_back(current);
      current.clear();
    } else if (c != ' ' || !current.empty()) {
      current += c;
    }
  }
  if (!current.empty()) parts.push_back(current);
  return parts;
}

// 0 where the type is not known.
char class_by_value(const std::string& type) {
  static const std::unordered_map<std::string, char> classes = {
      {"at::Tensor", 'W'},
      {"bool", 'W'},
      {"long", 'W'},
      {"c10::SymInt", 'W'},
      {"c10::ScalarType", 'W'},
      {"c10::Device", 'W'},
      {"c10::Storage", 'W'},
      {"c10::Scalar", 'W'},
      {"c10::MemoryFormat", 'W'},
      {"c10::Layout", 'W'},
      {"std::optional<at::Generator>", 'W'},
      {"std::optional<at::Tensor>", 'W'},
      {"std::optional<c10::Scalar>", 'W'},
      {"std::optional<c10::SymInt>", 'W'},
      {"std::optional<c10::ScalarType>", 'W'},
      {"std::optional<bool>", 'W'},
      {"std::optional<c10::Layout>", 'W'},
      {"std::optional<c10::Device>", 'W'},
      {"std::optional<c10::MemoryFormat>", 'W'},
      {"std::array<bool, 2ul>", 'W'},
      {"std::array<bool, 3ul>", 'W'},
      {"std::array<bool, 4ul>", 'W'},
      {"c10::ArrayRef<long>", 'P'},
      {"c10::ArrayRef<c10::SymInt>", 'P'},
      {"c10::ArrayRef<at::Tensor>", 'P'},
      {"c10::ArrayRef<c10::Scalar>", 'P'},
      {"std::optional<long>", 'P'},
      {"std::basic_string_view<char, std::char_traits<char> >", 'P'},
      {"double", 'D'},
      {"std::optional<double>", 'O'},
      {"c10::OptionalArrayRef<long>", 'M'},
      {"c10::OptionalArrayRef<c10::SymInt>", 'M'},
      {"std::optional<c10::ArrayRef<double> >", 'M'},
      {"std::optional<std::basic_string_view<char, std::char_traits<char> > >", 'M'},
  };
  const auto found = classes.find(type);
  return found == classes.end() ? 0 : found->second;
}

SlotKind kind_of(std::string type) {
  static const std::unordered_map<std::string, SlotKind> kinds = {
      {"at::Tensor", SlotKind::kTensor},
      {"std::optional<at::Tensor>", SlotKind::kOptionalTensor},
      {"c10::ArrayRef<at::Tensor>", SlotKind::kTensorList},
      {"c10::IListRef<at::Tensor>", SlotKind::kTensorListRef},
      {"c10::List<std::optional<at::Tensor> >", SlotKind::kOptionalTensorList},
      {"c10::Scalar", SlotKind::kScalar},
      {"std::optional<c10::Scalar>", SlotKind::kOptionalScalar},
      {"c10::ArrayRef<c10::Scalar>", SlotKind::kScalarList},
      {"double", SlotKind::kDouble},
      {"std::optional<double>", SlotKind::kOptionalDouble},
      {"long", SlotKind::kInt},
      {"std::optional<long>", SlotKind::kOptionalInt},
      {"c10::ArrayRef<long>", SlotKind::kIntList},
      {"c10::OptionalArrayRef<long>", SlotKind::kOptionalIntList},
      {"bool", SlotKind::kBool},
  };
  for (const char* suffix : {"&", " const"}) {
    if (type.ends_with(suffix)) type.erase(type.size() - std::string_view(suffix).size());
  }
  const auto found = kinds.find(type);
  return found == kinds.end() ? SlotKind::kOther : found->second;
}

std::string return_class(const std::string& type) {
  if (type == "void") return "V";
  if (type.ends_with('&')) return "R";
  if (type.starts_with("std::tuple<at::Tensor&")) {
    return "Q" + std::to_string(std::count(type.begin(), type.end(), '&'));
  }
  const bool by_slot = type.find("at::Tensor") != std::string::npos || type == "c10::Scalar";
  return by_slot ? "S" : "";
}

}  // namespace

Signature read_signature(const std::string& text) {
  int depth = 0;
  std::size_t open = 0;
  for (; open < text.size(); ++open) {
    depth += text[open] == '<';
    depth -= text[open] == '>';
    if (text[open] == '(' && depth == 0) break;
  }
  if (open >= text.size()) return {};
  std::string returned = text.substr(0, open);
  while (returned.ends_with(' ')) returned.pop_back();

  Signature signature;
  std::string abi_class = return_class(returned);
  if (abi_class.empty()) return {};
  abi_class += ':';
  for (const std::string& type : split_arguments(text.substr(open + 1, text.size() - open - 2))) {
    const char c = type.ends_with('&') ? 'W' : class_by_value(type);
    if (c == 0) return {};
    abi_class += c;
    signature.slots.push_back(kind_of(type));
  }
  signature.abi_class = std::move(abi_class);
  return signature;
}

}  // namespace nanscope::torch_adapter
