// One reader for each format. A reader finds what is stored and where; it reads no element.
//
// What it says of a damaged file is a sentence without the path, which its caller puts before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/bytes.h"
#include "checkpoint/contents.h"
#include "checkpoint/zip.h"

namespace nanscope::checkpoint {

// torch.save: a zip with data.pkl; or, before torch 1.6, pickles followed by storages.
[[nodiscard]] Result<Contents> read_torch_zip(const Zip& zip);
[[nodiscard]] Result<Contents> read_torch_legacy(const BytesPtr& file);
// A pickle that is no torch.save: NumPy arrays in plain Python objects.
[[nodiscard]] Result<Contents> read_plain_pickle(const BytesPtr& file);
[[nodiscard]] Result<Contents> read_safetensors(const BytesPtr& file);
[[nodiscard]] Result<Contents> read_npy(const BytesPtr& file);
[[nodiscard]] Result<Contents> read_npz(const Zip& zip);
[[nodiscard]] Result<Contents> read_gguf(const BytesPtr& file);

// The files that *.index.json names; plain names only, never a way out of its folder.
[[nodiscard]] Result<std::vector<std::string>> read_index(const BytesPtr& file);

// The .metadata of a distributed checkpoint: which tensors, and in which part of which file.
struct DistributedItem {
  std::string name;
  std::string file;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool transformed = false;  // compressed: not decoded
};
[[nodiscard]] Result<std::vector<DistributedItem>> read_dcp_metadata(const BytesPtr& file);

// Is this the name of a file beside us: no folder, no way up, no control character?
[[nodiscard]] bool is_plain_name(std::string_view name) noexcept;

// Pickles beyond this are refused: they hold the structure, not the elements.
inline constexpr std::uint64_t kLargestPickle = 128 << 20;

// Note [A pickle is no bomb]
// torch.save deflates nothing, but a checkpoint may have been zipped again: its structure shrinks
// to a tenth, perhaps. Deflate itself would make a thousand bytes of one, and the pickle machine
// more of each. So what a deflated pickle may hold, in bytes and in values, goes by what it weighs
// in the file, beyond an allowance for small ones.
[[nodiscard]] constexpr std::uint64_t largest_pickle_of(std::uint64_t packed_size) {
  constexpr std::uint64_t kAllowed = 1 << 20;
  constexpr std::uint64_t kPerByte = 64;
  if (packed_size >= kLargestPickle / kPerByte) return kLargestPickle;
  return std::min(kLargestPickle, kAllowed + kPerByte * packed_size);
}
// What the format itself allows.
inline constexpr std::uint64_t kLargestSafetensorsHeader = 100'000'000;

}  // namespace nanscope::checkpoint
