#include "checkpoint/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "checkpoint/little_endian.h"
#include "checkpoint/readers.h"

namespace nanscope::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffixes[] = {".pt",          ".pth", ".ckpt", ".bin",
                                          ".safetensors", ".npy", ".npz",  ".gguf"};
constexpr std::string_view kLegacyMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

bool has_known_suffix(std::string_view path) {
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes),
                     [&](std::string_view suffix) { return path.ends_with(suffix); });
}

bool is_index_name(std::string_view path) { return path.ends_with(".index.json"); }

bool begins_like_safetensors(std::string_view bytes) {
  return bytes.size() > 8 && bytes[8] == '{' &&
         number_at<std::uint64_t>(bytes, 0) <= kLargestSafetensorsHeader;
}

Result<Contents> read_zip(const BytesPtr& file) {
  const Result<Zip> zip = Zip::open(file);
  if (!zip) return zip.error();
  bool has_pickle = false;
  bool has_arrays = zip.value().members().empty();
  for (const auto& [name, member] : zip.value().members()) {
    has_pickle |= name.ends_with("/data.pkl");
    has_arrays |= name.ends_with(".npy");
  }
  return has_arrays && !has_pickle ? read_npz(zip.value()) : read_torch_zip(zip.value());
}

class Opener {
 public:
  Opened open(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) open_path(path);
    return std::move(opened_);
  }

 private:
  void complain(const std::string& path, const Error& error) {
    opened_.errors.push_back({error.code, fmt::format("{}: {}", path, error.message)});
  }

  void open_path(const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return open_folder(path);
    if (is_index_name(path)) return open_index(path);
    if (path.ends_with(".distcp"))
      return complain(path, {ErrorCode::kBadUsage,
                             "it is a part of a distributed checkpoint; scan its folder."});
    open_one(path, /*named=*/true);
  }

  // `named`: the user wants this very file; in a folder others may lie beside checkpoints.
  void open_one(const std::string& path, bool named) {
    if (!seen_.insert(fs::path(path).lexically_normal().string()).second) return;
    const Result<BytesPtr> file = open_file(path);
    if (!file) return complain(path, file.error());
    Result<Contents> contents = read_checkpoint(file.value());
    if (!contents && contents.error().code == ErrorCode::kForeign && !named) {
      ++opened_.passed_over;
      return;
    }
    if (!contents) return complain(path, contents.error());
    opened_.checkpoints.push_back({path, file.value()->size(), std::move(contents.value())});
  }

  void open_index(const std::string& path) {
    const Result<BytesPtr> file = open_file(path);
    if (!file) return complain(path, file.error());
    const Result<std::vector<std::string>> shards = read_index(file.value());
    if (!shards) return complain(path, shards.error());
    for (const std::string& shard : shards.value())
      open_one((fs::path(path).parent_path() / shard).string(), true);
  }

  void open_folder(const std::string& path) {
    std::error_code problem;
    std::set<std::string> files;  // sorted: the same folder always reads the same
    std::set<std::string> distributed;
    fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied,
                                        problem);
    for (; !problem && at != fs::recursive_directory_iterator(); at.increment(problem)) {
      std::error_code ignored;
      if (!at->is_regular_file(ignored)) continue;
      if (at->path().filename() == ".metadata")
        distributed.insert(at->path().parent_path().string());
      else
        files.insert(at->path().string());
    }
    if (problem) return complain(path, {ErrorCode::kIo, problem.message() + "."});
    const std::size_t before = opened_.checkpoints.size() + opened_.errors.size();
    for (const std::string& folder : distributed) open_distributed(folder);
    for (const std::string& file : files) open_in_folder(file);
    if (opened_.checkpoints.size() + opened_.errors.size() == before)
      complain(path, {ErrorCode::kNotFound, "there is no checkpoint in this folder."});
  }

  void open_in_folder(const std::string& file) {
    if (file.ends_with(".distcp")) return;  // read with its .metadata
    if (is_index_name(file)) return open_index(file);
    if (has_known_suffix(file)) return open_one(file, false);
    ++opened_.passed_over;
  }

  void open_distributed(const std::string& folder) {
    const Result<BytesPtr> metadata = open_file(folder + "/.metadata");
    if (!metadata) return complain(folder, metadata.error());
    const Result<std::vector<DistributedItem>> items = read_dcp_metadata(metadata.value());
    if (!items) return complain(folder, items.error());
    Checkpoint checkpoint{.path = folder, .bytes = metadata.value()->size(), .contents = {}};
    checkpoint.contents.format = "distributed";
    parts_.clear();
    std::map<std::string, BytesPtr> files;
    for (const DistributedItem& item : items.value()) {
      BytesPtr& file = files[item.file];
      if (file == nullptr) {
        const Result<BytesPtr> opened = open_file(folder + "/" + item.file);
        if (!opened) return complain(folder + "/" + item.file, opened.error());
        file = opened.value();
        checkpoint.bytes += file->size();
      }
      if (Status added = add_item(item, file, checkpoint.contents); !added)
        return complain(folder, added.error());
    }
    opened_.checkpoints.push_back(std::move(checkpoint));
  }

  // A tensor in several pieces has a number behind its name.
  Status add_item(const DistributedItem& item, const BytesPtr& file, Contents& into) {
    if (!fits(item.offset, item.length, file->size()))
      return damaged(fmt::format("{} lies beyond the end of {}.", item.name, item.file));
    if (item.transformed) {
      if (!into.leave_out(item.name, "it is compressed in a way that is not decoded"))
        return damaged("it holds more tensors than any.");
      return Done{};
    }
    Result<Contents> piece = read_checkpoint(part_of(file, item.offset, item.length));
    if (!piece) return Error{piece.error().code, item.name + ": " + piece.error().message};
    const std::size_t part = parts_[item.name]++;
    const std::string name = part == 0 ? item.name : fmt::format("{} ({})", item.name, part + 1);
    const auto named = [&](const std::string& inner) {
      return inner.empty() ? name : name + "." + inner;
    };
    for (StoredTensor& tensor : piece.value().tensors) {
      tensor.name = named(tensor.name);
      if (!into.add(std::move(tensor))) return damaged("it holds more tensors than any.");
    }
    for (LeftOut& left_out : piece.value().left_out)
      if (!into.leave_out(named(left_out.name), std::move(left_out.why)))
        return damaged("it holds more tensors than any.");
    for (const OddNumber& number : piece.value().odd_numbers)
      into.odd_numbers.push_back({named(number.name), number.value});
    return Done{};
  }

  Opened opened_;
  std::set<std::string> seen_;
  std::map<std::string, std::size_t> parts_;
};

}  // namespace

Result<Contents> read_checkpoint(const BytesPtr& file) {
  const Result<std::string> start = text_at(*file, 0, 64);
  if (!start) return start.error();
  const std::string_view bytes = start.value();
  if (bytes.empty()) return damaged("it is empty.");
  // The first, because it begins with a length: that can look like any other beginning.
  if (begins_like_safetensors(bytes)) return read_safetensors(file);
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06")) return read_zip(file);
  if (bytes.starts_with("\x93NUMPY")) return read_npy(file);
  if (bytes.starts_with("GGUF")) return read_gguf(file);
  if (bytes[0] == '\x80')
    return bytes.find(kLegacyMagic) < 32 ? read_torch_legacy(file) : read_plain_pickle(file);
  if (bytes.size() > 8 && bytes[8] == '{') return read_safetensors(file);
  return Error{ErrorCode::kForeign,
               "it is not a checkpoint that nanscope knows (torch, safetensors, NumPy, GGUF)."};
}

Opened open_checkpoints(const std::vector<std::string>& paths) { return Opener().open(paths); }

}  // namespace nanscope::checkpoint
