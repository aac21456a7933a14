// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <new>
#include <utility>

namespace mrc::cli {
namespace {

namespace fs = std::filesystem;

FdBuf* g_stdout = nullptr;      // of the whole program
bool g_text_elsewhere = false;  // an output of the run is standard output

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

std::optional<struct stat> stat_of(const fs::path& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 ? std::optional(s) : std::nullopt;
}

/// Where a chain of symbolic links ends, also when nothing is there yet.
fs::path follow(fs::path path) {
  std::error_code error;
  for (unsigned i = 0; i < 40 && fs::is_symlink(path, error); ++i) {
    const fs::path to = fs::read_symlink(path, error);
    if (error) break;
    path = to.is_absolute() ? to : path.parent_path() / to;
  }
  return path;
}

[[noreturn]] void no_folder(const std::string& option, const std::string& path) {
  throw UsageError("cannot write into " + option + " " + path + ".",
                   "Name a folder you may write to; it is made if it is not there.");
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

std::ostream& text_out() { return g_text_elsewhere ? std::cerr : std::cout; }

void install_stdout() {
  // A closed descriptor would become that of the next file, and the file would get what is printed.
  bool closed = false;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    closed = closed || fd == STDOUT_FILENO;
    ::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);  // takes the lowest one that is free
  }
  g_stdout = new FdBuf(STDOUT_FILENO, closed ? EBADF : 0);  // as long as the program
  std::cout.rdbuf(g_stdout);
}

int flush_stdout() {
  std::cout.flush();
  return g_stdout->error();
}

void hand_back_stdout() {
  if (g_stdout->error() == EBADF) ::close(STDOUT_FILENO);
}

bool stdout_failed() { return g_stdout->error() != 0; }

Output::Output(std::string option, const std::string& path) : option_(std::move(option)), path_(path) {
  struct stat out {};
  const bool have_stdout = ::fstat(STDOUT_FILENO, &out) == 0;
  target_ = follow(path);
  std::error_code no_link;
  if (fs::is_symlink(target_, no_link)) fail(ELOOP);
  before_ = path == "-" ? std::nullopt : stat_of(path);
  // Also /proc/self/fd/1, and the file or pipe that standard output was sent to. Devices may be one and many.
  const bool same = before_ && have_stdout && same_file(*before_, out);
  if (path == "-" || path == "/dev/stdout" || (same && (!S_ISCHR(out.st_mode) || ::isatty(STDOUT_FILENO) == 1))) {
    kind_ = Kind::Stdout;
    fd_ = ::dup(STDOUT_FILENO);
    if (fd_ < 0) fail(errno);
    std::cout.flush();
    g_text_elsewhere = true;
  } else if ((before_ && !S_ISREG(before_->st_mode)) || path.starts_with("/dev/fd/") || path.starts_with("/proc/")) {
    open_direct();  // never beside it, never renamed: also a descriptor that was handed to us
  } else {
    open_regular();
  }
  buffer_ = std::make_unique<FdBuf>(fd_);
  stream_.rdbuf(buffer_.get());
}

Output::~Output() {
  stream_.rdbuf(nullptr);
  buffer_.reset();
  discard();
  if (fd_ >= 0) ::close(fd_);
}

void Output::discard() {
  if (kind_ != Kind::Regular || committed_ || partial_.empty()) return;
  ::unlink(partial_.c_str());
  if (fd_ >= 0) ::ftruncate(fd_, 0);  // its blocks are free at once
  unfinished_.reset();
  committed_ = true;  // there is nothing to give a name to any more
}

void Output::open_direct() {
  kind_ = Kind::Direct;
  if (before_ && S_ISDIR(before_->st_mode)) {
    throw UsageError(option_ + " " + path_ + " is a folder.", "Name a file in it.");
  }
  if (before_ && S_ISBLK(before_->st_mode)) {
    throw UsageError(option_ + " " + path_ + " is a block device.", "Name a file, a character device or a pipe.");
  }
  // A descriptor that was handed to us may stand anywhere in its file.
  const int append = before_ && S_ISREG(before_->st_mode) ? O_APPEND : 0;
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | append);
  if (fd_ < 0 && errno == EINTR) {
    throw UsageError("stopped while " + option_ + " " + path_ + " waited for somebody to read from it.",
                     "Start the reader, then run again.");
  }
  if (fd_ < 0) fail(errno);
}

void Output::open_regular() {
  if (before_ && ::access(target_.c_str(), W_OK) != 0) fail(errno);
  partial_ = target_.string() + ".part" + std::to_string(::getpid());
  if (target_.filename().empty() || path_.empty()) fail(ENOENT);
  const mode_t mode = before_ ? before_->st_mode & 07777 : 0666;
  unfinished_.emplace(partial_);
  fd_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode & 0777);
  if (fd_ < 0) {
    const int why = errno;
    partial_.clear();
    fail(why);
  }
  if (before_) {
    [[maybe_unused]] const int owner = ::fchown(fd_, before_->st_uid, before_->st_gid);  // as far as we may
    ::fchmod(fd_, mode);
  }
}

void Output::fail(int why) const {
  const std::string sentence = "cannot write " + option_ + (option_.empty() ? "" : " ") + path_;
  switch (why) {
    case ENOSPC:
    case EDQUOT:
      throw UsageError(sentence + ": no space is left.", "Free some, or write to another disk.");
    case EFBIG:
      throw UsageError(sentence + ": the file would be larger than allowed.",
                       "Raise the limit (ulimit -f), or write to another disk.");
    case EPIPE:
      throw UsageError(sentence + ": nobody reads from it any more.", "Let the reader read to the end.");
    case EACCES:
    case EPERM:
    case EROFS:
      throw UsageError(sentence + ": you may not write there.", "Name a file in a folder you may write to.");
    case ELOOP:
      throw UsageError(sentence + ": its symbolic links lead in a circle.", "Name a file.");
    case ENOENT:
    case ENOTDIR:
      throw UsageError(sentence + ": there is no such folder.", "Name a file in an existing folder.");
    default:
      throw UsageError(sentence + ": " + std::string(std::strerror(why)) + ".",
                       "Name a file in an existing folder you may write to.");
  }
}

void Output::commit() {
  stream_.flush();
  if (buffer_->error() != 0) {
    const int why = buffer_->error();
    discard();
    fail(why);
  }
  if (kind_ == Kind::Regular) {
    if (before_ && before_->st_nlink > 1) {
      into_hard_link();
    } else if (::close(std::exchange(fd_, -1)) != 0 || ::rename(partial_.c_str(), target_.c_str()) != 0) {
      const int why = errno;
      discard();
      fail(why);
    }
    unfinished_.reset();
  }
  committed_ = true;
}

/// A file with several names stays one file: its content is replaced, once all of it is on the same disk.
void Output::into_hard_link() {
  const int from = ::open(partial_.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = from < 0 ? -1 : ::open(target_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  int why = to < 0 ? errno : 0;
  if (to >= 0) {
    FdBuf out(to);
    std::array<char, 1 << 16> part;
    for (ssize_t n = 0; why == 0 && (n = ::read(from, part.data(), part.size())) != 0;) {
      if (n < 0) {
        if (errno != EINTR) why = errno;
        continue;
      }
      if (out.sputn(part.data(), n) != n) why = out.error();
    }
    if (why == 0 && out.pubsync() != 0) why = out.error();
    if (::close(to) != 0 && why == 0) why = errno;
  }
  if (from >= 0) ::close(from);
  if (why == 0) {
    ::unlink(partial_.c_str());
    return;
  }
  committed_ = true;  // the file is spoilt: what would have been in it stays
  throw UsageError("cannot write " + option_ + " " + path_ + ": " + std::strerror(why) + ".",
                   "The whole result is in " + partial_.string() + ".");
}

bool Output::same_place(const Output& other) const {
  if (kind_ == Kind::Stdout || other.kind_ == Kind::Stdout) return kind_ == other.kind_;
  if (before_ && other.before_) return same_file(*before_, *other.before_) && !S_ISCHR(before_->st_mode);
  std::error_code error;
  return !before_ && !other.before_ && target_.filename() == other.target_.filename() &&
         fs::equivalent(folder_of(target_), folder_of(other.target_), error);
}

bool Output::is_file(const std::string& path) const {
  const auto there = stat_of(path);
  return kind_ != Kind::Stdout && before_ && there && S_ISREG(there->st_mode) && same_file(*before_, *there);
}

Output* Outputs::add(const std::string& option, const std::string& path) {
  if (path.empty()) return nullptr;
  auto output = std::make_unique<Output>(option, path);
  for (const auto& other : outputs_) {
    if (!output->same_place(*other)) continue;
    throw UsageError(fmt::format("{} {} and {} {} are the same file.", option, path, other->option(), other->path()),
                     "Name another file for one of them.");
  }
  for (const std::string& input : inputs_) {
    if (!output->is_file(input)) continue;
    throw UsageError(fmt::format("{} {} is the file that the command reads.", option, path), "Name another file.");
  }
  outputs_.push_back(std::move(output));
  return outputs_.back().get();
}

void Outputs::reads(const std::string& path) {
  if (!path.empty()) inputs_.push_back(path);
}

void Outputs::attempt(const std::function<void()>& part) {
  try {
    part();
  } catch (const UsageError& error) {
    complain(error.what(), error.remedy);
  } catch (const std::bad_alloc&) {
    complain("there is not enough memory for the results.", "Request less, or use a larger machine.");
  } catch (const std::exception& error) {
    complain(std::string("a result could not be made: ") + error.what() + ".", "The others are there.");
  }
}

void Outputs::complain(std::string sentence, std::string remedy) {
  complaints_.push_back({std::move(sentence), std::move(remedy)});
}

void Outputs::out_of_memory() {
  complain("there was not enough memory: the results are those up to there.",
           "Request less, raise the limit (ulimit -v), or use a larger machine.");
}

void Outputs::write(Output* output, const std::function<void(std::ostream&)>& fill) {
  if (output == nullptr) return;
  attempt([&] {
    fill(output->stream());
    output->commit();
  });
}

int Outputs::finish(int verdict) {
  flush_stdout();
  for (const Complaint& c : complaints_) std::cerr << command_ << ": " << c.sentence << "\n  " << c.remedy << '\n';
  return (verdict == kPass || verdict == kInconclusive) && !complaints_.empty() ? kUsage : verdict;
}

void need_folder(const std::string& option, const std::string& path) {
  std::error_code error;
  fs::path at = path;
  while (!fs::exists(at, error) && !error) {
    if (!at.has_parent_path() || at.parent_path() == at) {
      at = ".";
      break;
    }
    at = at.parent_path();
  }
  if (!error && fs::is_directory(at, error) && ::access(at.c_str(), W_OK | X_OK) == 0) return;
  no_folder(option, path);
}

void make_folder(const std::string& option, const std::string& path) {
  need_folder(option, path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) no_folder(option, path);
}

OutputFolder::OutputFolder(const std::string& option, const std::string& path) : path_(path) {
  make_folder(option, path);
  fd_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) no_folder(option, path);
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(fd_);
    throw UsageError("another run is writing into " + option + " " + path + ".",
                     "Wait until it has ended, or name another folder.");
  }
}

OutputFolder::~OutputFolder() { ::close(fd_); }

}  // namespace mrc::cli
