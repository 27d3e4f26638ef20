#include "cli/captures.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "capture/format.h"
#include "capture/reader.h"
#include "cli/reading_line.h"

namespace nanscope::cli {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const std::string& path, int error_number) {
  return {ErrorCode::kIo,
          fmt::format("{} cannot be written: {}.", path, std::strerror(error_number))};
}

bool write_all(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file.good();
}

}  // namespace

int progress_descriptor(const Terminal& terminal, const Manner& manner) {
  return terminal.stderr_is_tty && !manner.quiet ? STDERR_FILENO : -1;
}

Result<std::vector<Diagnosed>> read_captures(const std::vector<std::string>& paths, int progress) {
  std::vector<Diagnosed> captures;
  ReadingLine line(progress, paths.size());
  for (const std::string& path : paths) {
    Result<Capture> capture = read_capture(path);
    if (!capture) return capture.error();
    captures.push_back(diagnosed(std::move(capture.value()), path));
    line.reach(captures.size());
  }
  return captures;
}

report::SourceRoot source_root() {
  std::error_code ignored;
  const fs::path here = fs::current_path(ignored);
  for (fs::path folder = here; !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", ignored)) return {folder.string(), here.string()};
    if (folder == folder.root_path()) break;
  }
  return {here.string(), here.string()};
}

bool is_capture(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;  // a named pipe would be waited for
  std::string begin(kMagic.size(), '\0');
  std::ifstream(path, std::ios::binary)
      .read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kMagic;
}

Status write_file(const std::string& path, const std::string& text) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  errno = 0;
  if (fs::exists(status) && !fs::is_regular_file(status)) {  // /dev/stdout, a named pipe
    if (fs::is_directory(status)) return cannot_write(path, EISDIR);
    if (!write_all(path, text)) return cannot_write(path, errno);
    return Done{};
  }
  const std::string part = fmt::format("{}.{}.part", path, ::getpid());
  if (!write_all(part, text) || ::rename(part.c_str(), path.c_str()) != 0) {
    const int error_number = errno;
    ::unlink(part.c_str());
    return cannot_write(path, error_number);
  }
  return Done{};
}

}  // namespace nanscope::cli
