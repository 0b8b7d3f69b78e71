#include "capture/trace/file/hdf5_output.hpp"

#include <utility>

#include "base/error.hpp"

namespace rayreplay::trace::hdf5 {

OutputHdf5::OutputHdf5(const std::filesystem::path& path, bool overwrite, std::string what)
    : output_(path, overwrite), what_(std::move(what)), sink_(output_.descriptor()) {
  const QuietScope quiet;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  if (!access) {
    fail(last_message());
  }
  // The sink receives all writes and keeps the reason of the first one that fails.
  sink_.use_in(access.get());
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  file_ = Handle(H5Fcreate("output", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
  if (!file_) {
    fail(last_message());
  }
}

OutputHdf5::~OutputHdf5() {
  const QuietScope quiet;
  sink_.discard();
  file_.close();
}

void OutputHdf5::fail(const std::string& reason) const {
  const std::string system = sink_.failure();
  throw Error(ErrorKind::Output,
              {"cannot write " + what_, output_.path().string(), system.empty() ? reason : system, "", sink_.fix()});
}

void OutputHdf5::require_written() const {
  if (!sink_.failure().empty()) {
    fail("");
  }
}

void OutputHdf5::flush() {
  const QuietScope quiet;
  if (H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) < 0) {
    fail(last_message());
  }
  require_written();
}

void OutputHdf5::commit() {
  const QuietScope quiet;
  flush();
  if (!file_.close()) {
    fail(last_message());
  }
  require_written();
  output_.commit();
}

}  // namespace rayreplay::trace::hdf5
