// What torch.save wrote before 1.6, and still does when asked: five pickles (magic number,
// version, system, the object, the keys of its storages), then the storages in that order.

#include <algorithm>
#include <map>
#include <utility>

#include "checkpoint/little_endian.h"
#include "checkpoint/pickle_machine.h"
#include "checkpoint/pickled_tensors.h"
#include "checkpoint/readers.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::int64_t kProtocolVersion = 1001;

// Where each storage of the file begins; sizes come from the file itself.
struct LegacyStorages {
  std::map<std::string, BytesPtr, std::less<>> by_key;
};

// The beginning of the file, as much as its pickles need.
class Beginning {
 public:
  explicit Beginning(BytesPtr file) : file_(std::move(file)) {}

  // Reads the pickle at `offset`. What was read before is no longer valid.
  Result<Pickle> pickle_at(std::uint64_t offset) {
    for (std::uint64_t size = kFirst;; size *= 4) {
      Result<std::string> bytes = text_at(*file_, offset, std::min(size, kLargestPickle));
      if (!bytes) return bytes.error();
      text_ = std::move(bytes.value());
      bool cut_off = false;
      Result<Pickle> pickle = read_pickle(text_, &cut_off);
      if (pickle || !cut_off || text_.size() < size) return pickle;
      if (size >= kLargestPickle) return damaged("its pickle is too large.");
    }
  }

 private:
  static constexpr std::uint64_t kFirst = 64 << 10;
  BytesPtr file_;
  std::string text_;
};

// ("storage", class, key, location, size, view): the widths of all storages by their keys.
class LegacyFinder {
 public:
  explicit LegacyFinder(const LegacyStorages& storages) : storages_(storages) {}

  Result<Storage> operator()(const Pickle& pickle, std::span<const Ref> id) const {
    const auto found = storages_.by_key.find(pickle.text(id[2]));
    if (found == storages_.by_key.end()) return damaged("a storage is missing.");
    const std::optional<ElementType> type = type_of_storage(pickle.text(id[1]));
    const bool is_view = id.size() > 5 && pickle.is(id[5], PickleKind::kTuple);
    if (!is_view) return Storage{.bytes = found->second, .type = {}};
    const std::span<const Ref> view = pickle.items(id[5]);  // (key, offset, size)
    const auto width = static_cast<std::uint64_t>(type ? type->width : 1);
    if (view.size() < 3 || !pickle.is(view[1], PickleKind::kInteger) ||
        !pickle.is(view[2], PickleKind::kInteger))
      return damaged("the view of a storage makes no sense.");
    const auto begin = static_cast<std::uint64_t>(pickle.integer(view[1])) * width;
    const auto length = static_cast<std::uint64_t>(pickle.integer(view[2])) * width;
    if (!fits(begin, length, found->second->size()))
      return damaged("the view of a storage makes no sense.");
    return Storage{.bytes = part_of(found->second, begin, length), .type = {}};
  }

 private:
  const LegacyStorages& storages_;
};

using Widths = std::map<std::string, std::uint32_t, std::less<>>;

// The file counts elements; their width is told by the ids in the object's pickle.
Widths widths_of_storages(const Pickle& pickle) {
  Widths widths;
  for (Ref ref = 0; ref < pickle.count(); ++ref) {
    if (!pickle.is(ref, PickleKind::kPersistent)) continue;
    const std::span<const Ref> id = pickle.items(pickle.items(ref)[0]);
    if (id.size() < 5 || pickle.text(id[0]) != "storage") continue;
    const std::optional<ElementType> type = type_of_storage(pickle.text(id[1]));
    widths[std::string(pickle.text(id[2]))] = type ? type->width : 1;
  }
  return widths;
}

Result<LegacyStorages> find_storages(const BytesPtr& file, const Pickle& keys, const Widths& widths,
                                     std::uint64_t offset) {
  LegacyStorages storages;
  const std::unique_ptr<Cursor> cursor = file->cursor();
  for (const Ref key : keys.items(keys.root())) {
    const auto width = widths.find(keys.text(key));
    if (width == widths.end()) return damaged("a storage belongs to no tensor.");
    std::uint64_t count = 0;
    if (!fits(offset, sizeof count, file->size())) return damaged("it is cut off.");
    const Status read = cursor->read(offset, std::as_writable_bytes(std::span(&count, 1)));
    if (!read) return read.error();
    offset += sizeof count;
    std::uint64_t length = 0;
    if (__builtin_mul_overflow(count, width->second, &length) ||
        !fits(offset, length, file->size()))
      return damaged("it is cut off: a storage reaches beyond the end of the file.");
    storages.by_key.emplace(keys.text(key), part_of(file, offset, length));
    offset += length;
  }
  return storages;
}

}  // namespace

Result<Contents> read_torch_legacy(const BytesPtr& file) {
  Beginning beginning(file);
  Contents contents{.format = "torch (legacy)"};
  bool big_endian = false;
  std::uint64_t offset = 0;
  for (int header = 0; header < 3; ++header) {
    const Result<Pickle> pickle = beginning.pickle_at(offset);
    if (!pickle) return pickle.error();
    const Ref root = pickle.value().root();
    if (header == 1 && pickle.value().integer(root) != kProtocolVersion)
      return damaged("it is of a version of torch.save that nanscope does not know.");
    if (header == 2) {
      const Ref little = pickle.value().entry(root, "little_endian");
      big_endian =
          pickle.value().is(little, PickleKind::kBool) && pickle.value().integer(little) == 0;
    }
    offset += pickle.value().size_in_bytes();
  }
  Beginning of_object(file);
  const Result<Pickle> object = of_object.pickle_at(offset);
  if (!object) return object.error();
  offset += object.value().size_in_bytes();
  const Result<Pickle> keys = beginning.pickle_at(offset);
  if (!keys) return keys.error();
  offset += keys.value().size_in_bytes();
  const Result<LegacyStorages> storages =
      find_storages(file, keys.value(), widths_of_storages(object.value()), offset);
  if (!storages) return storages.error();
  const FindStorage find = LegacyFinder(storages.value());
  contents.keep_names_below(object.value().size_in_bytes());
  if (Status added = add_tensors(object.value(), find, big_endian, contents); !added)
    return added.error();
  return contents;
}

Result<Contents> read_plain_pickle(const BytesPtr& file) {
  if (file->size() > kLargestPickle) return damaged("its pickle is too large.");
  const Result<std::string> bytes = text_at(*file, 0, kLargestPickle);
  if (!bytes) return bytes.error();
  const Result<Pickle> pickle = read_pickle(bytes.value());
  if (!pickle) return pickle.error();
  Contents contents{.format = "pickle"};
  contents.keep_names_below(file->size());
  const FindStorage find = [](const Pickle&, std::span<const Ref>) -> Result<Storage> {
    return damaged("a storage is missing.");
  };
  if (Status added = add_tensors(pickle.value(), find, false, contents); !added)
    return added.error();
  return contents;
}

}  // namespace nanscope::checkpoint
