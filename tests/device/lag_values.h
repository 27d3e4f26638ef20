// The arguments and results of a kernel, with each tensor in them exchanged for another.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

#include "lag_runtime.h"

namespace lag {

using Values = std::vector<c10::IValue>;

template <class Exchange>
c10::IValue exchanged(const c10::IValue& value, c10::Device device, Exchange exchange) {
  if (value.isTensor()) return exchange(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(exchange(tensor));
    return tensors;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const std::optional<at::Tensor> tensor : value.toOptionalTensorList())
      tensors.push_back(tensor ? std::optional(exchange(*tensor)) : std::nullopt);
    return tensors;
  }
  if (value.isDevice() && value.toDevice().type() == kDevice) return device;
  return value;
}

inline bool is_generator(const c10::Argument& argument) {
  return argument.type()->str().find("Generator") != std::string::npos;
}

inline bool draws_numbers(const c10::OperatorHandle& op) {
  for (const c10::Argument& argument : op.schema().arguments())
    if (is_generator(argument)) return true;
  return op.hasTag(at::Tag::nondeterministic_seeded);
}

inline bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// Arguments as the CPU's kernel takes them. Of the device's default generator it draws from the
// CPU's, so that a program has the same random numbers here and there; of another one from a copy,
// which goes on where that one stood.
class ForKernel {
 public:
  ForKernel(const c10::FunctionSchema& schema, const Values& given) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (is_generator(schema.arguments()[i])) {
        values.emplace_back(generator_for(given[i]));
      } else {
        values.push_back(exchanged(given[i], c10::kCPU,
                                   [](const at::Tensor& tensor) { return for_kernel(tensor); }));
      }
    }
  }

  Values values;

  // The kernel has run.
  void keep_drawn() {
    if (own_.defined()) own_.set_state(copy_.get_state());
  }

 private:
  at::Generator generator_for(const c10::IValue& given) {
    if (!given.isGenerator()) return at::detail::getDefaultCPUGenerator();
    const at::Generator generator = given.toGenerator();
    if (generator.unsafeGetGeneratorImpl() == default_generator().unsafeGetGeneratorImpl())
      return at::detail::getDefaultCPUGenerator();
    if (generator.device().type() != kDevice) return generator;
    own_ = generator;
    copy_ = at::make_generator<at::CPUGeneratorImpl>();
    copy_.set_state(own_.get_state());
    return copy_;
  }

  at::Generator own_;
  at::Generator copy_;
};

// The argument that this result is; none if it is new.
inline std::optional<std::size_t> argument_returned(const c10::FunctionSchema& schema,
                                                    std::size_t result) {
  const c10::AliasInfo* const alias = schema.returns()[result].alias_info();
  if (alias == nullptr) return std::nullopt;
  TORCH_CHECK(alias->isWrite(), "lag: no kernel for the view ", schema.name());
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::AliasInfo* const other = schema.arguments()[i].alias_info();
    if (other != nullptr && *other == *alias) return i;
  }
  return std::nullopt;
}

}  // namespace lag
