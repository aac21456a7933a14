# SPDX-License-Identifier: Apache-2.0
"""The owner of standard output of every command in Python, as cli/output.hpp is of those in C++: a write that fails
stops nothing and is told once, at the end."""
import errno
import io
import os
import select
import sys

EXIT_USAGE, EXIT_INCONCLUSIVE = 3, 5


class Kept(io.RawIOBase):
    """A descriptor that takes everything; `error` says which write was the first to fail, 0: none."""

    def __init__(self, descriptor, error=0):
        super().__init__()
        self.descriptor, self.error = descriptor, error

    def writable(self):
        return True

    def fileno(self):
        return self.descriptor

    def isatty(self):
        return os.isatty(self.descriptor)

    def write(self, data):
        left = memoryview(data).cast("B")
        size = len(left)
        while left and not self.error:
            try:
                left = left[os.write(self.descriptor, left):]
            except BlockingIOError:
                select.select([], [self.descriptor], [])
            except OSError as error:
                self.error = error.errno
        return size


def install():
    """sys.stdout and sys.stderr are ours from here on. Returns what stands behind sys.stdout."""
    closed = False
    for descriptor, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:  # the next file would become it, and would get what is printed
            closed = closed or descriptor == 1
            os.set_inheritable(os.open(os.devnull, flags), True)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)
    out, err = Kept(1, errno.EBADF if closed else 0), Kept(2)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(out), encoding, "backslashreplace", line_buffering=out.isatty())
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(err), encoding, "backslashreplace", line_buffering=True)
    return out


def complain(name, sentence, remedy):
    print(f"{name}: {sentence}\n  {remedy}", file=sys.stderr)
    return EXIT_USAGE


def place(error):
    """Where in our sources it was raised."""
    step = error.__traceback__
    while step.tb_next:
        step = step.tb_next
    return f"{os.path.basename(step.tb_frame.f_code.co_filename)}, line {step.tb_lineno}"


def called(name, main):
    """The exit code of main(), whatever ends it."""
    try:
        code = main()
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        complain(name, "interrupted.", "The same command begins again.")
        return EXIT_INCONCLUSIVE
    except MemoryError:
        return complain(name, "there is not enough memory.", "Raise the limit (ulimit -v), or use a larger machine.")
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror or error}"
        room = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return complain(name, f"{what}.", "Free some space, or write elsewhere." if room else "Check that file.")
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        return complain(name, f"unexpected error: {type(error).__name__}: {error} ({place(error)}).",
                        "Please report this with the command line you used; PYTHONDEVMODE=1 shows more.")
    if isinstance(code, str):
        print(code, file=sys.stderr)
        return EXIT_USAGE
    return int(code or 0)


def command(name, main):
    """Ends the process with the exit code of main(). A reader that closed a pipe has what it wanted. Everything else
    that keeps output from getting out is told, and is no pass."""
    out = install()
    code = called(name, main)
    sys.stdout.flush()
    if out.error not in (0, errno.EPIPE):
        remedy = "Give it a standard output." if out.error == errno.EBADF else "Free some space, or send it elsewhere."
        complain(name, f"cannot write standard output: {os.strerror(out.error)}.", remedy)
        code = code or EXIT_USAGE
    sys.exit(code)
