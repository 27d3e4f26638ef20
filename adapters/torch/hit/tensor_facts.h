// How single tensors are described in the facts of an event.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "adapters/torch/interpose/tensors.h"
#include "origin/event_facts.h"
#include "origin/host_numbers.h"

namespace nanscope::torch_adapter {

using Facts = EventFacts;

// The name of its element type: float16, int64.
[[nodiscard]] std::string type_name(const at::Tensor& tensor);
[[nodiscard]] std::string type_name(c10::ScalarType type);
// Type, shape and statistics of the tensor, whose values are in `view`.
[[nodiscard]] TensorFacts describe(const at::Tensor& tensor, const OwnedView& view);
// The same in short, for an op on the way.
[[nodiscard]] Made as_made(const TensorFacts& facts);
// Adds what only a picture shows: the histogram of its exponents, the map of its bad elements.
void add_pictures(TensorFacts& facts, const OwnedView& view);
// Which non-finite numbers it holds.
[[nodiscard]] NumberKinds numbers_in(const at::Tensor& tensor);
// The same, and where they are.
[[nodiscard]] HostValues host_values_in(const at::Tensor& tensor);
// Where the whole memory that it lies in is bad: the same whatever part of it is looked at. Of more
// than 64 MB only its own part.
[[nodiscard]] BadPattern pattern_in_memory(const at::Tensor& tensor);
// Adds its values at these elements of the output, if it has an element for each.
void add_values(TensorFacts& facts, const OwnedView& view, const std::vector<Index>& elements);
// Adds up to 32 of its finite elements that are not like those that failed.
void add_healthy(TensorFacts& facts, const OwnedView& view);
// What a node saved, with its values at the failing elements where they are `aligned` with it.
[[nodiscard]] TensorFacts describe_saved(const std::string& name, const at::Tensor& tensor,
                                         const Finding& finding, bool aligned);
// The element of a broadcast operand that feeds `index` of the output; nothing if it does not.
[[nodiscard]] std::optional<Index> feeding(const Index& index,
                                           const std::vector<std::int64_t>& sizes);
}  // namespace nanscope::torch_adapter
