// SPDX-License-Identifier: Apache-2.0
#include "log/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>

#include "input/file.hpp"
#include "input/number.hpp"
#include "log/address.hpp"
#include "log/duplicates.hpp"
#include "log/each_twice.hpp"
#include "log/format.hpp"
#include "log/packet.hpp"
#include "wire/capture.hpp"
#include "wire/link_layer.hpp"

namespace mrc::log {
namespace {

constexpr uint64_t kPsPerNs = 1000;
/// Captures of simulations begin at 0 and keep their times; others begin a second before their first packet.
constexpr uint64_t kSimulatedNs = 1'000'000'000'000'000, kSecondNs = 1'000'000'000;
constexpr uint64_t kMostNs = (~uint64_t{0} >> 1) / kPsPerNs;
/// Packets of one capture may stand so far from their place in the order of time before an Until excludes them; no
/// more than so many packets and bytes, which a judge holds meanwhile.
constexpr Time kSlack = 1'000'000'000;
constexpr uint64_t kSlackPackets = 1 << 17, kSlackBytes = uint64_t{128} << 20;
/// Packets of one capture are put into the order of their times: both directions of a port, queues of a NIC. So many
/// wait at least, and all within this time of the newest one as long as they take no more memory.
constexpr std::size_t kAhead = 64, kAheadBytes = std::size_t{32} << 20;
constexpr uint64_t kAheadNs = 200'000;
constexpr std::size_t kMostPlaces = 4096;  ///< of a capture, where it is asked whether frames come twice
constexpr const char* kRemedy = "Name an existing capture that you may read, or -.";

bool is_data(const wire::Packet& packet) {
  if (!packet.bth) return false;
  const wire::OpcodeInfo* const info = wire::opcode_info(packet.bth->opcode);
  return info != nullptr && info->payload;
}

struct Interface {
  std::optional<unsigned> plane;  ///< of cooked packets: each port of the host has one of its own
  uint64_t newest_ns = 0, since_ns = 0, dropped = 0;
  bool seen = false;
};

/// A packet that was read and waits for its turn, by time and number.
struct Waiting {
  uint64_t time_ns = 0, number = 0;
  std::unique_ptr<wire::CapturedFrame> frame;
  bool ethernet = false;  ///< it is read
  bool operator<(const Waiting& o) const { return std::tie(time_ns, number) < std::tie(o.time_ns, o.number); }
  bool operator>(const Waiting& o) const { return o < *this; }
};

struct Input {
  std::string name, path;
  std::optional<std::size_t> at;
  std::ifstream file;
  std::unique_ptr<wire::PacketSource> reader;
  // Most packets are in order: a queue holds them, a heap the others, the oldest one in front.
  std::deque<Waiting> ahead;
  std::vector<Waiting> late;
  std::size_t ahead_bytes = 0;
  uint64_t newest_ns = 0;
  std::vector<std::unique_ptr<wire::CapturedFrame>> spare;
  std::optional<wire::Error> problem;
  bool over = false;
  std::vector<Interface> interfaces;
  std::map<uint64_t, EachTwice> twice;  // by interface and port
  std::map<uint32_t, unsigned> ports;   // planes of cooked packets, by the number of the host's interface
  uint64_t number = 0, done = 0;        // packets read, handed over

  bool none_waits() const { return ahead.empty() && late.empty(); }
  /// Whether the oldest one that waits is among `late`.
  bool late_is_next() const { return !late.empty() && (ahead.empty() || late.front() < ahead.front()); }
  const Waiting& next() const { return late_is_next() ? late.front() : ahead.front(); }
  /// The next one may be older than all that wait.
  bool wants_more() const {
    if (ahead.size() + late.size() < kAhead) return true;
    return newest_ns - next().time_ns < kAheadNs && ahead_bytes < kAheadBytes;
  }
  void wait(std::unique_ptr<wire::CapturedFrame> frame, bool ethernet) {
    newest_ns = std::max(newest_ns, frame->time_ns);
    ahead_bytes += frame->bytes.size();
    Waiting waiting{frame->time_ns, ++number, std::move(frame), ethernet};
    if (ahead.empty() || ahead.back() < waiting) {
      ahead.push_back(std::move(waiting));
      return;
    }
    late.push_back(std::move(waiting));
    std::ranges::push_heap(late, std::greater<>());
  }
  Waiting oldest() {
    Waiting one;
    if (late_is_next()) {
      std::ranges::pop_heap(late, std::greater<>());
      one = std::move(late.back());
      late.pop_back();
    } else {
      one = std::move(ahead.front());
      ahead.pop_front();
    }
    ahead_bytes -= one.frame->bytes.size();
    return one;
  }
  /// Of the place where a frame was captured; null: nothing is known of it.
  EachTwice* twice_at(const wire::CapturedFrame& frame, bool make) {
    const uint64_t place = uint64_t{frame.port} << 32 | frame.interface;
    const auto known = twice.find(place);
    if (known != twice.end()) return &known->second;
    return make && twice.size() < kMostPlaces ? &twice[place] : nullptr;
  }
};

/// The newest time when so much had come.
struct Milestone {
  Time newest = 0;
  uint64_t packets = 0, bytes = 0;
};

struct Known {
  bool own_capture = false;
  bool open = false;  ///< it may have records that no Until covers
  Time until = 0, newest = 0;
};

class Importer {
 public:
  Importer(const ImportOptions& options, const Sink& sink) : o_(options), sink_(sink) {}

  wire::Result<Imported> run() {
    if (auto problem = open()) return *problem;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (auto problem = fetch(i)) return *problem;
    }
    begin();
    while (!heap_.empty()) {
      const std::size_t i = heap_.top().second;
      heap_.pop();
      if (auto problem = packet(i)) return *problem;
      if (result_.counts.packets >= next_until_) report_untils();
      if (result_.counts.packets % o_.each == 0 && o_.progress && !o_.progress(bytes_read())) break;
      if (auto problem = fetch(i)) return *problem;
    }
    report_losses();
    for (uint32_t d = 0; d < known_.size(); ++d) report(d, newest_, End{true, "the captures end here"});
    return std::move(result_);
  }

 private:
  using Problem = std::optional<wire::Error>;
  using Key = std::pair<uint64_t, std::size_t>;

  Problem open() {
    for (const ImportDevice& device : o_.devices) {
      for (const Ip& ip : device.addresses) {
        if (!by_address_.emplace(ip, static_cast<uint32_t>(result_.devices.size())).second) {
          return wire::Error{address_text(ip), 0, "this address is named twice", "Name it once.", 0, 0};
        }
      }
      result_.devices.push_back(device);
    }
    known_.resize(result_.devices.size());
    for (const ImportFile& file : o_.files) {
      auto input = std::make_unique<Input>();
      input->name = file.name.empty() ? input::file_name(file.path) : file.name;
      input->path = file.path;
      input->at = file.at;
      if (file.at) known_[*file.at].own_capture = true;
      std::istream* in = &std::cin;
      if (file.path != "-") {
        std::error_code error;
        if (std::filesystem::is_directory(file.path, error)) return no_capture(input->name, "it is a folder");
        errno = 0;
        input->file.open(file.path, std::ios::binary);
        if (!input->file) return no_capture(input->name, errno == ENOENT ? "it does not exist" : std::strerror(errno));
        in = &input->file;
      }
      input->reader = wire::read_capture(*in, input->name);
      inputs_.push_back(std::move(input));
    }
    return std::nullopt;
  }

  /// Of standard input nothing.
  uint64_t bytes_read() {
    uint64_t bytes = 0;
    for (const auto& input : inputs_) {
      std::error_code error;
      if (!input->file.is_open()) continue;
      const auto at = input->file.tellg();
      bytes += at >= 0 ? static_cast<uint64_t>(at) : std::filesystem::file_size(input->path, error);
    }
    return bytes;
  }

  static wire::Error no_capture(const std::string& name, const std::string& why) {
    return {name, 0, "cannot read the capture: " + why, kRemedy, 0, 0};
  }

  /// Packets of a capture wait for their turn.
  Problem fetch(std::size_t i) {
    Input& input = *inputs_[i];
    while (!input.over && input.wants_more()) {
      if (auto problem = read(i)) return problem;
    }
    if (input.none_waits()) return input.problem;
    heap_.emplace(input.next().time_ns, i);
    return std::nullopt;
  }

  Problem read(std::size_t i) {
    Input& input = *inputs_[i];
    std::unique_ptr<wire::CapturedFrame> frame;
    if (input.spare.empty()) {
      frame = std::make_unique<wire::CapturedFrame>();
    } else {
      frame = std::move(input.spare.back());
      input.spare.pop_back();
    }
    input.over = !input.reader->next(*frame);
    input.problem = input.reader->error();
    while (input.interfaces.size() < input.reader->interfaces().size()) {
      if (auto problem = add_interface(input)) return problem;
    }
    for (const wire::CaptureLoss& loss : input.reader->take_losses()) {
      if (loss.interface < input.interfaces.size()) losses_.push_back({i, input.number, loss});
    }
    if (input.over) {
      for (auto& place : input.twice) know(place.second, [&] { place.second.end(); });
      return std::nullopt;
    }
    if (o_.captured) o_.captured(*frame, *input.reader);
    const std::size_t on_wire = std::max<std::size_t>(frame->original_length, frame->bytes.size());
    const std::size_t fcs = std::min<std::size_t>(frame->fcs_bytes, on_wire);
    frame->original_length = static_cast<uint32_t>(on_wire - fcs);
    frame->bytes.resize(std::min<std::size_t>(frame->bytes.size(), frame->original_length));
    const bool ethernet = wire::to_ethernet(*frame);
    if (ethernet) {
      if (EachTwice* const twice = input.twice_at(*frame, true)) {
        know(*twice, [&] { twice->came(frame->bytes, frame->original_length, frame->time_ns); });
      }
    }
    input.wait(std::move(frame), ethernet);
    return std::nullopt;
  }

  /// What a place shows may tell that frames come twice there.
  template <class More>
  void know(EachTwice& twice, More&& more) {
    const bool before = twice.is();
    more();
    counts().twice += !before && twice.is();
  }

  Problem add_interface(Input& input) {
    const wire::CaptureInterface& described = input.reader->interfaces()[input.interfaces.size()];
    input.interfaces.emplace_back();
    if (described.link == wire::kLinkSll2) return std::nullopt;
    const std::string& name = described.name;
    unsigned plane = next_plane(input);
    constexpr std::string_view kPlane = "plane";
    if (name.starts_with(kPlane) && name.size() > kPlane.size() && name.size() <= kPlane.size() + 2) {
      unsigned number = 0;
      for (const char c : name.substr(kPlane.size())) {
        number = c >= '0' && c <= '9' ? number * 10 + static_cast<unsigned>(c - '0') : kMaxPlanes;
      }
      if (number < kMaxPlanes) plane = number;
    }
    if (auto problem = take_plane(input, plane)) return problem;
    input.interfaces.back().plane = plane;
    return std::nullopt;
  }

  unsigned& next_plane(const Input& input) { return next_plane_[input.at ? static_cast<int64_t>(*input.at) : -1]; }

  Problem take_plane(const Input& input, unsigned plane) {
    if (plane >= kMaxPlanes) {
      return wire::Error{input.name,
                         0,
                         fmt::format("more than {} interfaces for one device", kMaxPlanes),
                         "Import captures of fewer ports.",
                         0,
                         0};
    }
    next_plane(input) = std::max(next_plane(input), plane + 1);
    return std::nullopt;
  }

  /// The plane of a packet that is one of MRC.
  wire::Result<unsigned> plane_of(Input& input, const wire::CapturedFrame& from) {
    if (const auto& plane = input.interfaces[from.interface].plane) return *plane;
    const auto [at, fresh] = input.ports.try_emplace(from.port, next_plane(input));
    if (fresh) {
      if (auto problem = take_plane(input, at->second)) return *problem;
    }
    return at->second;
  }

  void begin() {
    wire::WireConfig wire;
    if (!heap_.empty()) {
      const Input& first = *inputs_[heap_.top().second];
      wire = first.next().frame->wire;
      const uint64_t time = heap_.top().first;
      result_.base_ns = time < kSimulatedNs ? 0 : (time - kSecondNs) / kSecondNs * kSecondNs;
    }
    if (o_.wire) wire = *o_.wire;
    wire_ = wire;
    for (uint32_t d = 0; d < known_.size(); ++d) report_device(d);
    if (!known_.empty()) notes();
  }

  void report_device(uint32_t d) {
    ImportDevice& device = result_.devices[d];
    if (device.name.empty() && !device.addresses.empty()) device.name = address_text(device.addresses[0]);
    if (device.profile.empty() && o_.profile) device.profile = o_.profile(wire_);
    report(d, 0, Device{device.name, device.profile});
    if (!o_.qps) return;
    for (QpChange& change : o_.qps(device)) {
      if (change.time == 0) {
        report(d, 0, std::move(change.qp));
      } else {
        changes_.emplace(change.time, std::pair(d, std::move(change.qp)));
      }
    }
    report_changes();
  }

  void report_changes() {
    while (!changes_.empty() && changes_.begin()->first <= newest_) {
      auto change = changes_.extract(changes_.begin());
      report(change.mapped().first, change.key(), std::move(change.mapped().second));
    }
  }

  void notes() {
    noted_ = true;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      report(0, 0, Note{fmt::format("capture {} is {}", i, inputs_[i]->name.substr(0, 1000))});
    }
    if (result_.base_ns != 0) {
      report(0, 0,
             Note{fmt::format("time 0 is {}.{:09} s since 1970", result_.base_ns / kSecondNs,
                              result_.base_ns % kSecondNs)});
    }
  }

  template <class Body>
  void report(uint32_t device, Time time, Body body) {
    Record record{device, time, std::move(body)};
    sink_(record);
  }

  Time log_time(uint64_t ns) const {
    const uint64_t since = ns < result_.base_ns ? 0 : ns - result_.base_ns;
    return std::min(since, kMostNs) * kPsPerNs / o_.slow;
  }

  /// The device of an address. When none were named, whoever is named by a packet is one.
  wire::Result<std::optional<uint32_t>> device_of(const Ip& ip, const Input& input) {
    const auto found = by_address_.find(ip);
    if (found != by_address_.end()) return std::optional(found->second);
    if (!o_.devices.empty()) return std::optional<uint32_t>();
    if (known_.size() == kMaxDevices) {
      return wire::Error{input.name,
                         0,
                         fmt::format("more than {} addresses", kMaxDevices),
                         "Name those that are wanted with --device.",
                         0,
                         0};
    }
    const auto d = static_cast<uint32_t>(known_.size());
    by_address_.emplace(ip, d);
    result_.devices.push_back({{ip}, {}, {}});
    known_.emplace_back();
    report_device(d);
    if (!noted_) notes();
    return std::optional(d);
  }

  Problem packet(std::size_t i) {
    Input& input = *inputs_[i];
    Waiting taken = input.oldest();
    wire::CapturedFrame& from = *taken.frame;
    Interface& interface = input.interfaces[from.interface];
    ++counts().packets;
    const Time time = log_time(from.time_ns);
    if (from.dropped != 0) lost(input, interface, from.dropped, interface.seen ? interface.newest_ns : 0, from.time_ns);
    result_.backwards += interface.seen && from.time_ns < interface.newest_ns;
    if (!interface.seen) interface.since_ns = from.time_ns;
    interface.newest_ns = std::max(interface.newest_ns, from.time_ns);
    interface.seen = true;
    newest_ = std::max(newest_, time);
    if (!changes_.empty()) report_changes();
    bytes_ += from.bytes.size();
    if (counts().packets % o_.each == 0) {
      milestones_.push_back({newest_, counts().packets, bytes_});
      while (counts().packets - milestones_.front().packets > kSlackPackets ||
             bytes_ - milestones_.front().bytes > kSlackBytes) {
        excluded_ = milestones_.front().newest;
        milestones_.pop_front();
      }
    }

    frame_.sent = false;
    frame_.flags = from.fcs_bad ? kFcsBad : 0;
    frame_.last = time;
    frame_.number = from.number;
    frame_.capture = static_cast<uint32_t>(i);
    frame_.length = from.original_length;
    from.bytes.resize(std::min<std::size_t>({from.bytes.size(), frame_.length, kMaxFrameBytes}));
    if (from.bytes.size() < frame_.length) {
      frame_.flags |= kCut;
      ++result_.cut;
    }
    if (from.taken.extensions != 0) frame_.flags |= kChanged;
    frame_.bytes.swap(from.bytes);
    Problem problem;
    if (taken.ethernet) {
      problem = sort(input, from, o_.wire ? *o_.wire : from.wire, time);
    } else {
      leave_out(LeftOut::LinkType);
      if (!counts().other_link) counts().other_link = from.link;
    }
    frame_.bytes.swap(from.bytes);
    input.spare.push_back(std::move(taken.frame));
    ++input.done;
    if (!losses_.empty()) report_losses();
    return problem;
  }

  /// Some header says more than is there: a switch has cut the payload, and left lengths as they were.
  bool perhaps_trimmed(const wire::Packet& packet) const {
    return packet.error && packet.error->code == wire::ErrorCode::BadLength && packet.error->got > packet.error->want &&
           (frame_.flags & kCut) == 0;
  }

  void unread(const Input& input, const wire::CapturedFrame& from, const wire::WireConfig& wire) {
    const uint32_t view = input.at ? static_cast<uint32_t>(*input.at) : kUnderWay;
    const bool reported = duplicates_[view].again(frame_.bytes, frame_.length, sight_of(from, reading_.packet));
    if (!reported) o_.unread(reading_.packet, wire, frame_);
  }

  CaptureCounts& counts() { return result_.counts; }
  void leave_out(LeftOut reason) { ++counts().left_out[static_cast<std::size_t>(reason)]; }

  /// Who has sent and who gets the frame.
  Problem sort(Input& input, const wire::CapturedFrame& from, const wire::WireConfig& wire, Time time) {
    read_frame(reading_, frame_, wire);
    const wire::Packet& packet = reading_.packet;
    const std::optional<LeftOut> why = reading_.why;
    const bool malformed = why == LeftOut::Malformed && packet.udp;
    if (why && !malformed) {
      leave_out(*why);
      const bool cut = why == LeftOut::CutInHeaders || why == LeftOut::CutBeforeBth;
      if ((cut || perhaps_trimmed(packet)) && o_.unread) unread(input, from, wire);
      if (why == LeftOut::OtherPort && !counts().other_port) counts().other_port = packet.udp->dst_port;
      return std::nullopt;
    }
    const Ip src = mapped_source(packet), dst = mapped_destination(packet);
    const bool whole = (frame_.flags & (kCut | kChanged)) == 0;
    if (malformed || (whole && packet.icrc && !packet.icrc->ok)) {
      if (!left_ports(input, from, src)) return damaged(input, from, packet, time);
    }
    const auto sender = device_of(src, input), receiver = device_of(dst, input);
    if (!sender) return sender.error();
    if (!receiver) return receiver.error();
    if (auto problem = place(input, from)) return problem;
    const uint64_t before = result_.records;
    bool again = false;
    const auto once = [&](uint32_t view) {
      const bool reported = duplicates_[view].again(frame_.bytes, frame_.length, sight_of(from, packet));
      again |= reported;
      return !reported;
    };
    if (input.at && once(static_cast<uint32_t>(*input.at))) {
      const auto own = static_cast<uint32_t>(*input.at);
      using enum wire::CapturedFrame::Direction;
      // A NIC sends nothing trimmed: data of its own that are, a switch has sent back.
      const bool back = packet.trimmed() && is_data(packet);
      const bool sent = from.direction == Unknown ? *sender == own && !back : from.direction == Out;
      emit(own, time, sent, 0);
    }
    const auto elsewhere = [&](const std::optional<uint32_t>& device) {
      return device && !known_[*device].own_capture;
    };
    if ((elsewhere(*sender) || elsewhere(*receiver)) && once(kUnderWay)) {
      if (elsewhere(*sender)) {
        result_.trimmed_under_way += packet.trimmed();
        emit(**sender, time, true, packet.trimmed() ? kCut | kMaybe : 0);
      }
      if (elsewhere(*receiver)) emit(**receiver, time, false, kMaybe);
    }
    if (result_.records != before) {
      ++counts().judged;
      if (o_.packet && (frame_.flags & kFcsBad) == 0) o_.packet(packet, wire, frame_);
    } else if (again) {
      ++counts().duplicates;
      if (o_.again) o_.again(packet, frame_);
    } else {
      leave_out(LeftOut::Nobody);
    }
    return std::nullopt;
  }

  /// The capture was taken at the ports of the device that sent the frame.
  bool left_ports(const Input& input, const wire::CapturedFrame& from, const Ip& src) const {
    using enum wire::CapturedFrame::Direction;
    if (!input.at || from.direction != Unknown) return input.at && from.direction == Out;
    const auto found = by_address_.find(src);
    return found != by_address_.end() && found->second == *input.at;
  }

  /// Where a frame was captured.
  Problem place(Input& input, const wire::CapturedFrame& from) {
    const auto plane = plane_of(input, from);
    if (!plane) return plane.error();
    frame_.plane = static_cast<uint8_t>(*plane);
    frame_.error = o_.clock_error[*plane];
    return std::nullopt;
  }

  Duplicates::Sight sight_of(const wire::CapturedFrame& from, const wire::Packet& packet) const {
    const uint64_t interface = uint64_t{frame_.capture} << 32 | (from.interface ^ from.port << 16);
    const EachTwice* const twice = inputs_[frame_.capture]->twice_at(from, false);
    return {.ns = from.time_ns,
            .interface = interface,
            .unique = packet.seth || (is_data(packet) && packet.bth->rtx == 0),
            .marked = packet.peth && packet.ecn() == 3,
            .each_twice = twice != nullptr && twice->is()};
  }

  /// Nobody is known to have sent it so, and its addresses may be what was damaged: only the device whose ports were
  /// captured has to do with it.
  Problem damaged(Input& input, const wire::CapturedFrame& from, const wire::Packet& packet, Time time) {
    if (o_.damaged) o_.damaged(packet, frame_);
    if (!input.at) {
      ++counts().damaged;
      return std::nullopt;
    }
    if (auto problem = place(input, from)) return problem;
    const auto own = static_cast<uint32_t>(*input.at);
    if (duplicates_[own].again(frame_.bytes, frame_.length, sight_of(from, packet))) {
      ++counts().duplicates;
      return std::nullopt;
    }
    ++counts().judged;
    emit(own, time, false, 0);
    return std::nullopt;
  }

  void emit(uint32_t device, Time time, bool sent, int flags) {
    ++result_.records;
    if (!o_.frames) return;
    const uint8_t of_capture = frame_.flags;
    frame_.flags = static_cast<uint8_t>(of_capture | flags);
    frame_.sent = sent;
    record_.device = device;
    record_.time = time;
    record_.body = frame_;
    sink_(record_);
    frame_.flags = of_capture;
    Known& known = known_[device];
    known.newest = std::max(known.newest, time);
    if (!std::exchange(known.open, true)) open_.push_back(device);
  }

  /// The captures go on from the newest packet's time at the earliest, as far as they are in order. A device that is
  /// silent hears of it, too: what it has told waits for that.
  void report_untils() {
    const Time until = std::max(excluded_, newest_ < kSlack ? 0 : newest_ - kSlack);
    if (until == 0) return;
    std::erase_if(open_, [&](uint32_t device) {
      Known& known = known_[device];
      if (until > known.until) report(device, known.until = until, Until{});
      known.open = known.newest + kSlack >= until;
      return !known.open;
    });
    next_until_ = counts().packets + std::max<uint64_t>(o_.each, open_.size());
  }

  void report_losses() {
    std::erase_if(losses_, [&](const Loss& loss) {
      Input& input = *inputs_[loss.input];
      if (input.done < loss.behind) return false;
      lost_by_statistics(input, loss.loss);
      return true;
    });
  }

  void lost_by_statistics(Input& input, const wire::CaptureLoss& loss) {
    Interface& interface = input.interfaces[loss.interface];
    if (loss.dropped <= interface.dropped) return;
    const uint64_t more = loss.dropped - interface.dropped;
    interface.dropped = loss.dropped;
    lost(input, interface, more, interface.since_ns, std::max(loss.time_ns, interface.newest_ns));
    interface.since_ns = std::max(interface.since_ns, loss.time_ns);
  }

  void lost(const Input& input, const Interface& interface, uint64_t count, uint64_t from_ns, uint64_t to_ns) {
    result_.lost += count;
    const Gap gap{static_cast<uint8_t>(interface.plane.value_or(0)), count, log_time(from_ns),
                  fmt::format("the host that captured {} dropped packets", input.name.substr(0, 1000))};
    const Time time = std::max(newest_, log_time(to_ns));
    if (input.at) {
      report(static_cast<uint32_t>(*input.at), time, gap);
      return;
    }
    for (uint32_t d = 0; d < known_.size(); ++d) {
      if (!known_[d].own_capture) report(d, time, gap);
    }
  }

  const ImportOptions& o_;
  const Sink& sink_;
  Imported result_;
  std::vector<std::unique_ptr<Input>> inputs_;
  std::priority_queue<Key, std::vector<Key>, std::greater<>> heap_;
  std::map<int64_t, unsigned> next_plane_;  // by device whose ports were captured, -1: under way
  std::map<Ip, uint32_t> by_address_;
  std::vector<Known> known_;
  std::multimap<Time, std::pair<uint32_t, Qp>> changes_;  // of devices, to come
  std::vector<uint32_t> open_;                            // devices: Known::open
  uint64_t next_until_ = 0;                               // after so many packets
  wire::WireConfig wire_;
  struct Loss {
    std::size_t input;
    uint64_t behind;  // that many packets of it
    wire::CaptureLoss loss;
  };
  std::vector<Loss> losses_;  // read, not told yet
  static constexpr uint32_t kUnderWay = ~uint32_t{0};
  std::map<uint32_t, Duplicates> duplicates_;  // by device at whose ports the capture was taken
  Frame frame_;
  Reading reading_;
  Record record_;
  Time newest_ = 0, excluded_ = 0;
  uint64_t bytes_ = 0;  // of packets that were handed over
  std::deque<Milestone> milestones_;
  bool noted_ = false;
};

}  // namespace

wire::Result<Imported> import_captures(const ImportOptions& options, const Sink& sink) {
  return Importer(options, sink).run();
}

}  // namespace mrc::log
