#include "capture/reference/trace_file.hpp"

#include "capture/trace/writer.hpp"

namespace rayreplay::reference {
namespace {

class WriterSink final : public ThreadSink {
 public:
  explicit WriterSink(trace::Writer& writer) : writer_(&writer) {}

  void begin(trace::LaunchSize size, trace::LaunchColumns columns) override {
    writer_->begin_launch(size, columns);
  }
  void append(const trace::ThreadData& batch) override {
    writer_->append(batch);
  }

 private:
  trace::Writer* writer_;
};

}  // namespace

TraceFileResult trace_to_file(const RenderScene& scene, const TracerOptions& options, const std::filesystem::path& path,
                              bool overwrite, Progress* progress) {
  const CaptureDescription description = describe_capture(scene, options);
  trace::Writer writer(path, description.header, description.shaders, description.scene, {.overwrite = overwrite});
  WriterSink sink(writer);
  TraceFileResult result;
  result.tracer = trace_scene(scene, options, &sink, progress);
  writer.end_launch();
  result.hash = writer.finish();
  return result;
}

}  // namespace rayreplay::reference
