// The .metadata of torch.distributed.checkpoint: a pickle that says which part of which .distcp
// file holds which piece of which tensor. Each piece is a torch.save of its own.

#include <utility>

#include "checkpoint/pickle_machine.h"
#include "checkpoint/readers.h"

namespace nanscope::checkpoint {
namespace {

// A dataclass: its fields are the state it was given.
Ref field(const Pickle& pickle, Ref object, std::string_view name) {
  return pickle.entry(pickle.state(object), name);
}

}  // namespace

Result<std::vector<DistributedItem>> read_dcp_metadata(const BytesPtr& file) {
  if (file->size() > kLargestPickle) return damaged("its .metadata is too large.");
  const Result<std::string> bytes = text_at(*file, 0, kLargestPickle);
  if (!bytes) return bytes.error();
  const Result<Pickle> read = read_pickle(bytes.value());
  if (!read) return read.error();
  const Pickle& pickle = read.value();
  const Ref places = field(pickle, pickle.root(), "storage_data");
  if (!pickle.callee(pickle.root()).ends_with(".Metadata") || !pickle.is(places, PickleKind::kDict))
    return damaged("its .metadata is not that of a distributed checkpoint.");
  std::vector<DistributedItem> items;
  const std::span<const Ref> pairs = pickle.items(places);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const Ref place = pairs[i + 1];
    const std::int64_t offset = pickle.integer(field(pickle, place, "offset"));
    const std::int64_t length = pickle.integer(field(pickle, place, "length"));
    DistributedItem item{.name = std::string(pickle.text(field(pickle, pairs[i], "fqn"))),
                         .file = std::string(pickle.text(field(pickle, place, "relative_path"))),
                         .offset = static_cast<std::uint64_t>(offset),
                         .length = static_cast<std::uint64_t>(length)};
    const Ref transforms = field(pickle, place, "transform_descriptors");
    item.transformed = !pickle.items(transforms).empty();
    if (!is_plain_name(item.file))
      return damaged("its .metadata names a file outside of its own folder.");
    if (offset < 0 || length < 0) return damaged("its .metadata makes no sense.");
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace nanscope::checkpoint
