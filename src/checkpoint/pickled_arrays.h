// NumPy's arrays and numbers inside a pickle.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "checkpoint/contents.h"
#include "checkpoint/pickle.h"

namespace nanscope::checkpoint {

[[nodiscard]] bool is_numpy_array(const Pickle& pickle, Ref call);
// The bytes of arrays, each once however often it is named.
using ArrayBytes = std::unordered_map<Ref, BytesPtr>;
// Its name is left empty. Nothing if its elements are not decoded: objects, texts, records.
[[nodiscard]] std::optional<StoredTensor> numpy_array(const Pickle& pickle, Ref call,
                                                      ArrayBytes& known);
// A NumPy scalar of a floating-point type.
[[nodiscard]] std::optional<double> numpy_number(const Pickle& pickle, Ref call);

// A tuple of integers, or a call of torch.Size with one.
[[nodiscard]] std::optional<std::vector<std::int64_t>> integers(const Pickle& pickle, Ref ref);

}  // namespace nanscope::checkpoint
