// The tensors of a pickle that torch or NumPy wrote, with the names a user would give them.
//
// Dictionaries, lists, modules and any other object are walked, whatever their class: what looks
// like a tensor is taken by the name of the function that would build it. A container is entered
// once, under the first name it has.
#pragma once

#include <functional>
#include <span>

#include "base/result.h"
#include "checkpoint/contents.h"
#include "checkpoint/pickle.h"

namespace nanscope::checkpoint {

struct Storage {
  BytesPtr bytes;
  std::optional<ElementType> type;  // absent: untyped
};

// Finds the storage of a persistent id: ("storage", class, key, location, size, ...).
using FindStorage = std::function<Result<Storage>(const Pickle&, std::span<const Ref> id)>;

// "torch.FloatStorage" -> float32; nothing for an untyped storage, or a class it does not know.
[[nodiscard]] std::optional<ElementType> type_of_storage(std::string_view storage_class);

// Adds what the pickle holds. `big_endian`: how the storages were written.
[[nodiscard]] Status add_tensors(const Pickle& pickle, const FindStorage& find, bool big_endian,
                                 Contents& contents);

}  // namespace nanscope::checkpoint
