#include "report/patch.h"

#include <charconv>
#include <optional>

namespace nanscope::report {
namespace {

constexpr int kLastLine = 100'000'000;

// "-12,3" or "-12" in front of the text.
struct Range {
  int first = 0;
  int count = 1;
};

std::optional<int> take_int(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > kLastLine) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<Range> take_range(std::string_view& text, char sign) {
  if (!text.starts_with(sign)) return std::nullopt;
  text.remove_prefix(1);
  Range range;
  const std::optional<int> first = take_int(text);
  if (!first) return std::nullopt;
  range.first = *first;
  if (!text.starts_with(',')) return range;
  text.remove_prefix(1);
  const std::optional<int> count = take_int(text);
  if (!count) return std::nullopt;
  range.count = *count;
  return range;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// Reads the lines of one file's hunks.
class HunkReader {
 public:
  explicit HunkReader(FilePatch& patch) : patch_(patch) {}

  // False: this is no line of a diff.
  bool take(std::string_view line) {
    if (old_left_ == 0 && new_left_ == 0 && !line.starts_with('\\')) return take_header(line);
    if (line.starts_with('\\')) return take_no_newline();
    const char kind = line.empty() ? ' ' : line.front();  // some tools strip the blank
    const std::string_view text = line.empty() ? line : line.substr(1);
    if (kind == ' ') return take_context();
    if (kind == '-') return take_removed();
    return kind == '+' && take_added(text);
  }
  [[nodiscard]] bool whole() const { return old_left_ == 0 && new_left_ == 0; }

 private:
  bool take_header(std::string_view line) {
    if (!line.starts_with("@@ ")) return false;
    line.remove_prefix(3);
    const std::optional<Range> before = take_range(line, '-');
    if (!before || !line.starts_with(' ')) return false;
    line.remove_prefix(1);
    const std::optional<Range> after = take_range(line, '+');
    if (!after || !line.starts_with(" @@")) return false;
    // Of a hunk without old lines the number is that of the line before it.
    line_ = before->count == 0 ? before->first + 1 : before->first;
    old_left_ = before->count;
    new_left_ = after->count;
    open_ = false;
    return line_ > 0;
  }
  bool take_context() {
    if (old_left_ == 0 || new_left_ == 0) return false;
    --old_left_, --new_left_, ++line_;
    open_ = false;
    return true;
  }
  bool take_removed() {
    if (old_left_ == 0) return false;
    --old_left_, ++line_;
    ++current(line_ - 1).removed;
    return true;
  }
  bool take_added(std::string_view text) {
    if (new_left_ == 0) return false;
    --new_left_;
    current(line_).inserted.append(text).append("\n");
    added_last_ = true;
    return true;
  }
  // "\ No newline at end of file" is about the line before it.
  bool take_no_newline() {
    if (added_last_ && open_) patch_.replacements.back().inserted.pop_back();
    added_last_ = false;
    return !patch_.replacements.empty() || line_ > 0;
  }
  Replacement& current(int line) {
    if (!open_) patch_.replacements.push_back({line, 0, ""});
    open_ = true;
    added_last_ = false;
    return patch_.replacements.back();
  }

  FilePatch& patch_;
  int line_ = 0;
  int old_left_ = 0;
  int new_left_ = 0;
  bool open_ = false;        // the last line was a change
  bool added_last_ = false;  // and an added one
};

// "+++ b/train.py", perhaps with a tab and a date behind.
std::optional<std::string> named_after(std::string_view line, std::string_view mark) {
  if (!line.starts_with(mark)) return std::nullopt;
  line.remove_prefix(mark.size());
  line = line.substr(0, line.find('\t'));
  if (line.starts_with("a/") || line.starts_with("b/")) line.remove_prefix(2);
  return line.empty() ? std::nullopt : std::optional(std::string(line));
}

}  // namespace

std::vector<FilePatch> parse_patch(std::string_view diff) {
  std::vector<FilePatch> patches;
  std::optional<HunkReader> reader;
  while (!diff.empty()) {
    const std::string_view line = take_line(diff);
    if ((!reader || reader->whole()) && line.starts_with("--- ")) {
      if (!named_after(line, "--- ")) return {};
      const std::optional<std::string> file = named_after(take_line(diff), "+++ ");
      if (!file) return {};
      patches.push_back({*file, {}});
      reader.emplace(patches.back());
      continue;
    }
    if (!reader || !reader->take(line)) return {};
  }
  const bool whole = reader && reader->whole();
  return whole ? patches : std::vector<FilePatch>{};
}

}  // namespace nanscope::report
