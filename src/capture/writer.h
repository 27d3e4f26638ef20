// Writes a capture while the program runs.
//
// The file appears with the first finding, and with it inside: it is written beside
// its name and moved there. What was appended before (program, coverage) is held
// until then, and a run without findings leaves no file unless `keep` is called.
// Every append is one write() of whole frames, and an error is flushed, so `kill -9`
// at any moment leaves no capture or one with all that was appended.
//
// One thread at a time. The file is not shared with forked children.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "capture/format.h"
#include "records/capture.h"

namespace nanscope {

// Can a capture be made here? Asked before the program starts: an existing file is
// refused unless `overwrite`, so are a folder and a path whose folder is missing.
[[nodiscard]] Status check_destination(const std::string& path, bool overwrite);

// Is a patch short enough for a record?
[[nodiscard]] bool is_kept_whole(const Fix& fix);

// To a capture that is finished: a patch for its first error, or what `fix` made of a finding. All
// of the diff or nothing is kept.
[[nodiscard]] Status add_proposal(const std::string& path, const Fix& fix);
[[nodiscard]] Status add_repair(const std::string& path, const Repair& repair);
// To a capture that was finished before its program was: how that ended.
[[nodiscard]] Status add_program(const std::string& path, const Program& program);

// All records of a capture, as a file would hold them.
[[nodiscard]] std::string bytes_of(const Capture& capture);

class CaptureWriter {
 public:
  // Checks the destination; creates nothing yet.
  [[nodiscard]] static Result<CaptureWriter> create(const std::string& path, bool overwrite);

  CaptureWriter(CaptureWriter&& other) noexcept;
  CaptureWriter& operator=(CaptureWriter&& other) noexcept;
  ~CaptureWriter();

  // After a failed write the file still ends with a whole frame, and writing may go on.
  [[nodiscard]] Status append(const Finding& finding);
  // Later records of these kinds replace earlier ones.
  [[nodiscard]] Status append(const Program& program);
  [[nodiscard]] Status append(const Coverage& coverage);
  [[nodiscard]] Status append(const Withdrawal& withdrawal);
  // Makes the file exist even without a finding (the user named it with -o).
  [[nodiscard]] Status keep();
  // Records that the end was seen, and closes. Does nothing if there is no file.
  [[nodiscard]] Status finish();
  // All that was recorded is withdrawn: the file goes.
  void discard() noexcept;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool exists() const { return size_ > 0; }

 private:
  CaptureWriter(std::string path, bool overwrite);

  [[nodiscard]] Status open();
  [[nodiscard]] Status publish();
  [[nodiscard]] Status write(std::string_view frames);
  [[nodiscard]] Error failure(int error_number) const;
  void close() noexcept;

  std::string path_;
  std::string part_;  // where it is written until it is whole
  bool overwrite_ = false;
  bool finished_ = false;
  int fd_ = -1;
  std::size_t size_ = 0;  // of the file, in whole frames
  std::size_t findings_ = 0;
  std::string program_frame_;  // held until there is a file
  std::string coverage_frame_;
};

}  // namespace nanscope
