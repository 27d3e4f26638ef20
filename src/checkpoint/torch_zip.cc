// What torch.save writes: NAME/data.pkl with the structure, NAME/data/KEY with the storages.
// TorchScript files are alike, with a second pair for constants.

#include <fmt/format.h>

#include <map>

#include "checkpoint/pickle_machine.h"
#include "checkpoint/pickled_tensors.h"
#include "checkpoint/readers.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::size_t kLongestStorageKey = 256;

// "archive/data.pkl" -> "archive"; only one folder deep.
std::string folder_of_pickle(const Zip& zip) {
  for (const auto& [name, member] : zip.members())
    if (name.ends_with("/data.pkl") && name.find('/') == name.size() - 9)
      return name.substr(0, name.size() - 9);
  return {};
}

Result<bool> says_big_endian(const Zip& zip, const std::string& folder) {
  const std::string name = folder + "/byteorder";
  if (!zip.has(name)) return false;
  const Result<BytesPtr> member = zip.bytes_of(name);
  if (!member) return member.error();
  const Result<std::string> order = text_at(*member.value(), 0, 8);
  if (!order) return order.error();
  return order.value() == "big";
}

// Note [A pickle is no bomb]
Result<std::string> pickle_bytes(const Zip& zip, const std::string& name, const ZipMember& member) {
  if (member.size > largest_pickle_of(member.packed_size)) {
    const std::string packed =
        member.packed_size < member.size
            ? fmt::format(": {} bytes, deflated to {}", member.size, member.packed_size)
            : std::string();
    return damaged(fmt::format("its pickle is too large{}.", packed));
  }
  const Result<BytesPtr> bytes = zip.bytes_of(name);
  if (!bytes) return bytes.error();
  return text_at(*bytes.value(), 0, kLargestPickle);
}

Status add_pickle(const Zip& zip, const std::string& folder, const std::string& stem,
                  bool big_endian, Contents& contents) {
  const std::string name = fmt::format("{}/{}.pkl", folder, stem);
  const ZipMember& member = zip.members().find(name)->second;
  contents.keep_names_below(member.packed_size);
  const Result<std::string> bytes = pickle_bytes(zip, name, member);
  if (!bytes) return bytes.error();
  const Result<Pickle> pickle =
      read_pickle(bytes.value(), nullptr, Pickle::most_values_of(member.packed_size));
  if (!pickle) return pickle.error();
  std::map<std::string, BytesPtr, std::less<>> known;  // tensors that share a storage share this
  const FindStorage find = [&](const Pickle& values, std::span<const Ref> id) -> Result<Storage> {
    const std::string_view key = values.text(id[2]);
    if (const auto found = known.find(key); found != known.end())
      return Storage{.bytes = found->second, .type = {}};
    if (key.size() > kLongestStorageKey) return damaged("a storage has no sensible name.");
    const Result<BytesPtr> storage = zip.bytes_of(fmt::format("{}/{}/{}", folder, stem, key));
    if (!storage) return storage.error();
    known.emplace(key, storage.value());
    return Storage{.bytes = storage.value(), .type = {}};
  };
  return add_tensors(pickle.value(), find, big_endian, contents);
}

}  // namespace

Result<Contents> read_torch_zip(const Zip& zip) {
  Contents contents{.format = "torch"};
  const std::string folder = folder_of_pickle(zip);
  if (folder.empty())
    return Error{ErrorCode::kForeign, "it is a zip file, but neither torch nor NumPy wrote it."};
  const Result<bool> big_endian = says_big_endian(zip, folder);
  if (!big_endian) return big_endian.error();
  for (const char* stem : {"data", "constants"}) {
    if (!zip.has(fmt::format("{}/{}.pkl", folder, stem))) continue;
    if (Status added = add_pickle(zip, folder, stem, big_endian.value(), contents); !added)
      return added.error();
  }
  return contents;
}

}  // namespace nanscope::checkpoint
