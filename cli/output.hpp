// SPDX-License-Identifier: Apache-2.0
/// Where results go. One owner of all outputs of a run: what cannot work is refused before the run, and at its end
/// everything is printed and written whatever one of the outputs does.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/fd_buf.hpp"
#include "cli/signals.hpp"

namespace mrc::cli {

/// What standard output is for: text for people, unless an output of the run was named "-" or /dev/stdout. Standard
/// error then.
std::ostream& text_out();
/// Writes out what std::cout holds. errno of what failed since the start of the program, 0: nothing.
int flush_stdout();
/// Once, at the start of the program: std::cout knows why a write fails.
void install_stdout();
/// For a program that takes our place: a standard output that was closed is closed again.
void hand_back_stdout();
/// Nobody reads standard output any more, or it cannot be written.
bool stdout_failed();

/// One file, device, pipe, or standard output.
///
/// A regular or new file is written beside its destination and gets its name by commit(), complete; a symbolic link is
/// followed, the mode of an existing file and its hard links are kept. Devices, pipes and standard output are written
/// directly. Without commit() a regular file stays as it was.
class Output {
 public:
  /// Opens it. `option` is what the user called it by ("--json"). Throws UsageError: a folder, a folder that may not be
  /// written, a file that may not, a block device; or stopped by a signal while it waited for the reader of a pipe.
  Output(std::string option, const std::string& path);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  std::ostream& stream() { return stream_; }
  /// As the user wrote it.
  const std::string& path() const { return path_; }
  const std::string& option() const { return option_; }
  bool is_stdout() const { return kind_ == Kind::Stdout; }
  /// For programs that open a file by name themselves: the file beside the destination.
  const std::filesystem::path& partial_path() const { return partial_; }
  /// Writes out and gives the file its name. Throws UsageError when the disk refuses.
  void commit();
  /// True if both write to the same place.
  bool same_place(const Output& other) const;
  /// True if the destination is that file.
  bool is_file(const std::string& path) const;

 private:
  enum class Kind : uint8_t { Regular, Direct, Stdout };
  /// Takes back what has no name yet.
  void discard();
  void open_direct();
  void open_regular();
  void into_hard_link();
  [[noreturn]] void fail(int why) const;

  const std::string option_, path_;
  Kind kind_ = Kind::Regular;
  std::filesystem::path target_, partial_;  ///< links followed; partial_ is empty unless regular
  std::optional<struct stat> before_;       ///< of the target, when it is there
  int fd_ = -1;
  std::optional<Unfinished> unfinished_;
  std::unique_ptr<FdBuf> buffer_;
  std::ostream stream_{nullptr};
  bool committed_ = false;
};

/// All outputs of a run, and its ending.
class Outputs {
 public:
  /// `command`: "mrc cosim", for what is said on standard error.
  explicit Outputs(std::string command) : command_(std::move(command)) {}

  /// Null when `path` is empty: not asked for. Throws UsageError as Output, and when another output or an input is that
  /// file.
  Output* add(const std::string& option, const std::string& path);
  /// A file that the run reads, or a name that is none; call it before add().
  void reads(const std::string& path);

  /// Does a part of the ending. What it throws is told by finish(), after everything else has been done.
  void attempt(const std::function<void()>& part);
  /// To be told by finish().
  void complain(std::string sentence, std::string remedy);
  /// There was not enough memory for the run.
  void out_of_memory();
  /// Fills and commits one output; null: nothing.
  void write(Output* output, const std::function<void(std::ostream&)>& fill);
  /// Tells what went wrong on standard error. Returns the exit code: `verdict`, but kUsage for a pass or kInconclusive
  /// if any output was lost.
  int finish(int verdict);
  /// True if some part of the ending has failed so far.
  bool lost_any() const { return !complaints_.empty(); }

 private:
  struct Complaint {
    std::string sentence, remedy;
  };
  const std::string command_;
  std::vector<std::string> inputs_;
  std::vector<std::unique_ptr<Output>> outputs_;
  std::vector<Complaint> complaints_;
};

/// A folder that gets the files of a run. Only one run at a time writes into it.
class OutputFolder {
 public:
  /// Makes it if it is not there. Throws UsageError: it cannot be made or written, another run is writing into it.
  OutputFolder(const std::string& option, const std::string& path);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

/// Makes a folder that several runs may share. Throws UsageError.
void make_folder(const std::string& option, const std::string& path);
/// Throws UsageError unless files can be made in that folder, or it can be made. Makes nothing.
void need_folder(const std::string& option, const std::string& path);

}  // namespace mrc::cli
