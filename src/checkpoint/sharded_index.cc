// *.index.json of a model in several files: {"weight_map": {"NAME": "FILE", ...}}.

#include <algorithm>
#include <set>

#include "checkpoint/json_events.h"
#include "checkpoint/readers.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::uint64_t kLargestIndex = 256 << 20;
constexpr std::size_t kMostFiles = 100'000;

class WeightMap : public JsonEvents {
 public:
  [[nodiscard]] const std::set<std::string>& files() const { return files_; }
  [[nodiscard]] bool found() const { return found_; }
  [[nodiscard]] bool has_trick() const { return has_trick_; }

  bool start_object(std::size_t) override {
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (depth_-- == 2) in_map_ = false;
    return true;
  }
  bool key(string_t& key) override {
    if (depth_ == 1) in_map_ = key == "weight_map";
    found_ |= in_map_;
    return true;
  }
  bool string(string_t& text) override {
    if (!in_map_ || depth_ != 2) return true;
    if (!is_plain_name(text)) has_trick_ = true;
    if (!has_trick_ && files_.size() < kMostFiles) files_.insert(text);
    return !has_trick_;
  }

 private:
  std::set<std::string> files_;
  std::size_t depth_ = 0;
  bool in_map_ = false;
  bool found_ = false;
  bool has_trick_ = false;
};

}  // namespace

bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && name.size() < 256 && name != "." && name != ".." &&
         std::none_of(name.begin(), name.end(), [](char letter) {
           return letter == '/' || letter == '\\' || static_cast<unsigned char>(letter) < 0x20;
         });
}

Result<std::vector<std::string>> read_index(const BytesPtr& file) {
  if (file->size() > kLargestIndex) return damaged("it is too large for an index.");
  const Result<std::string> text = text_at(*file, 0, kLargestIndex);
  if (!text) return text.error();
  WeightMap map;
  const bool whole = map.read(text.value());
  if (map.has_trick())
    return damaged("it names a file outside of its own folder, which is not opened.");
  if (!whole) return damaged("it is not JSON.");
  if (!map.found())
    return Error{ErrorCode::kForeign, "it is JSON, but no index of a checkpoint: no weight_map."};
  return std::vector<std::string>(map.files().begin(), map.files().end());
}

}  // namespace nanscope::checkpoint
