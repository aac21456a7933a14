// SPDX-License-Identifier: Apache-2.0
/// libibverbs in front of libibverbs: devices of a host beside those of the system. What is about one of the host's is
/// answered here, everything else is passed on to the library behind this one, if there is any.
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <unordered_map>
#include <vector>

#include "libmrc/library/objects.hpp"
#include "libmrc/library/pass_on.hpp"

// Names that verbs.h also has as macros.
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace mrc::libmrc {
namespace {

/// All that is ours in this process: a C library knows its objects by their addresses alone.
struct Registry {
  std::mutex mutex;
  std::unordered_map<uint32_t, Device> devices;  ///< by index; they stay
  std::unordered_map<const ibv_context*, Context*> contexts;
  std::unordered_map<ibv_device**, ibv_device**> lists;  ///< ours, and the one of the library behind
};

Registry& registry() {
  static auto* const all = new Registry;  // outlives whoever calls at exit
  return *all;
}

Device* device_of(const ibv_device* device) {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  for (auto& [index, ours] : all.devices) {
    if (&ours.base == device) return &ours;
  }
  return nullptr;
}

/// The devices of a host, if there is one.
std::vector<ibv_device*> devices() {
  std::vector<ibv_device*> found;
  Connection host;
  uint32_t count = 0;
  if (host.attach(count) != 0) return found;
  Registry& all = registry();
  for (uint32_t i = 0; i < count; ++i) {
    DeviceRow row{};
    if (host.query(QueryDevice{i}, row) != 0) break;
    const std::scoped_lock lock(all.mutex);
    Device& device = all.devices[i];
    device.index = i;
    device.row = row;
    device.base.node_type = IBV_NODE_CA;
    device.base.transport_type = IBV_TRANSPORT_IB;
    std::memcpy(device.base.name, row.name, sizeof row.name);
    std::memcpy(device.base.dev_name, row.name, sizeof row.name);
    found.push_back(&device.base);
  }
  return found;
}

ibv_mtu largest_mtu() { return IBV_MTU_4096; }

}  // namespace

Context* context_of(const ibv_context* context) {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.contexts.find(context);
  return found == all.contexts.end() ? nullptr : found->second;
}

int either(int one, int other) {
  const int both = epoll_create1(EPOLL_CLOEXEC);
  for (const int descriptor : {one, other}) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    if (both >= 0 && epoll_ctl(both, EPOLL_CTL_ADD, descriptor, &wanted) != 0) {
      const int error = errno;
      close(both);
      errno = error;
      return -1;
    }
  }
  return both;
}

bool wait_for(int descriptor) {
  if ((fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0) {
    errno = EAGAIN;
    return false;
  }
  pollfd wanted{descriptor, POLLIN, 0};
  return ::poll(&wanted, 1, -1) > 0;
}

int fail(int error) {
  errno = error;
  return -1;
}

int not_there(Context* context, const char* name) {
  if (context != nullptr) {
    const std::scoped_lock lock(context->mutex);
    context->say(std::string(name) + ": not there (ENOTSUP)");
  }
  return fail(ENOTSUP);
}

}  // namespace mrc::libmrc

using namespace mrc::libmrc;

namespace {

ibv_mr* register_region(ibv_pd* pd, void* address, std::size_t bytes, uint64_t iova, unsigned access, Context& c) {
  constexpr unsigned kKnown = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_OPTIONAL_RANGE;
  const std::scoped_lock lock(c.mutex);
  if ((access & ~kKnown) != 0) {
    c.say("ibv_reg_mr: an access that MRC has no use for (ENOTSUP)");
    errno = ENOTSUP;
    return nullptr;
  }
  RegMr wanted{};
  wanted.pd = pd->handle;
  wanted.remote_write = (access & IBV_ACCESS_REMOTE_WRITE) != 0;
  wanted.local_write = (access & IBV_ACCESS_LOCAL_WRITE) != 0;
  wanted.address = reinterpret_cast<uint64_t>(address);
  wanted.iova = iova;
  wanted.bytes = bytes;
  auto* mr = new (std::nothrow) ibv_mr{};
  if (mr == nullptr) return nullptr;
  Number key{};
  if (const int error = c.connection.query(wanted, key); error != 0) {
    delete mr;
    errno = error;
    return nullptr;
  }
  *mr = {&c.base, pd, address, bytes, key.value, key.value, key.value};
  return mr;
}

}  // namespace

extern "C" {

// Devices.

ibv_device** ibv_get_device_list(int* num_devices) {
  std::vector<ibv_device*> found = devices();
  int others = 0;
  ibv_device** real = nullptr;
  if (auto* function = behind<ibv_device**(int*)>("ibv_get_device_list")) real = function(&others);
  for (int i = 0; real != nullptr && i < others; ++i) found.push_back(real[i]);
  auto** list = new (std::nothrow) ibv_device* [found.size() + 1] {};
  if (list == nullptr) return nullptr;
  std::ranges::copy(found, list);
  if (num_devices != nullptr) *num_devices = static_cast<int>(found.size());
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  all.lists[list] = real;
  return list;
}

void ibv_free_device_list(ibv_device** list) {
  ibv_device** real = nullptr;
  {
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.lists.find(list);
    if (found == all.lists.end()) return;
    real = found->second;
    all.lists.erase(found);
  }
  if (auto* function = real == nullptr ? nullptr : behind<void(ibv_device**)>("ibv_free_device_list")) function(real);
  delete[] list;
}

const char* ibv_get_device_name(ibv_device* device) {
  if (device_of(device) != nullptr) return device->name;
  return pass_on<const char*>("ibv_get_device_name", nullptr, device);
}

__be64 ibv_get_device_guid(ibv_device* device) {
  if (const Device* ours = device_of(device)) return htobe64(ours->row.guid);
  return pass_on<__be64>("ibv_get_device_guid", 0, device);
}

int ibv_get_device_index(ibv_device* device) {
  if (device_of(device) != nullptr) return -1;  // the kernel knows nothing of it
  return pass_on<int>("ibv_get_device_index", -1, device);
}

ibv_context* ibv_open_device(ibv_device* device) {
  Device* ours = device_of(device);
  if (ours == nullptr) return pass_on<ibv_context*>("ibv_open_device", nullptr, device);
  auto* context = new (std::nothrow) Context;
  if (context == nullptr) return nullptr;
  uint32_t count = 0;
  Done done{};
  int error = context->connection.attach(count);
  if (error == 0) error = context->connection.query(Open{ours->index}, done);
  context->events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  context->base.async_fd = either(context->connection.socket(), context->events);
  if (error == 0 && (context->events < 0 || context->base.async_fd < 0)) error = errno;
  if (error != 0) {
    close(context->events);
    close(context->base.async_fd);
    delete context;
    errno = error;
    return nullptr;
  }
  context->device = ours;
  context->base.device = device;
  context->base.cmd_fd = -1;
  context->base.num_comp_vectors = 1;
  pthread_mutex_init(&context->base.mutex, nullptr);
  give_verbs(*context);
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  all.contexts[&context->base] = context;
  return &context->base;
}

int ibv_close_device(ibv_context* context) {
  Context* c = context_of(context);
  if (c == nullptr) return pass_on<int>("ibv_close_device", -1, context);
  if (c->contexts.size() > (c->verbs == nullptr ? 0 : 1) || c->pds != 0 || !end_verbs(*c)) {
    c->say("ibv_close_device: contexts or PDs are left (EBUSY)");
    return fail(EBUSY);
  }
  {
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    all.contexts.erase(context);
  }
  close(c->events);
  close(c->base.async_fd);
  pthread_mutex_destroy(&c->base.mutex);
  delete c;
  return 0;
}

int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  Context* c = context_of(context);
  if (c == nullptr) return pass_on<int>("ibv_query_device", ENOSYS, context, attr);
  const DeviceRow& row = c->device->row;
  *attr = {};
  std::strcpy(attr->fw_ver, "mrcnic");
  attr->node_guid = attr->sys_image_guid = htobe64(row.guid);
  attr->max_mr_size = uint64_t{1} << 40;
  attr->page_size_cap = ~uint64_t{4095};
  attr->max_qp = static_cast<int>(row.max_qp);
  attr->max_qp_wr = static_cast<int>(row.max_qp_wr);
  attr->max_sge = static_cast<int>(kMaxPieces);
  attr->max_cq = 1 << 16;
  attr->max_cqe = 1 << 20;
  attr->max_mr = static_cast<int>(row.max_mr);
  attr->max_pd = 1 << 16;
  attr->max_pkeys = 1;
  attr->phys_port_cnt = static_cast<uint8_t>(row.planes);
  return 0;
}

int ibv_query_port(ibv_context* context, uint8_t port, _compat_ibv_port_attr* attr) {
  Context* c = context_of(context);
  if (c == nullptr) return pass_on<int>("ibv_query_port", ENOSYS, context, port, attr);
  const std::scoped_lock lock(c->mutex);
  Number state{};
  if (const int error = c->connection.query(QueryPort{port}, state); error != 0) return errno = error;
  const bool enabled = (state.value & kPortEnabled) != 0, up = enabled && (state.value & kPortCarrier) != 0;
  // As ___ibv_query_port of verbs.h: all members but the last two.
  auto* a = reinterpret_cast<ibv_port_attr*>(attr);
  std::memset(a, 0, offsetof(ibv_port_attr, port_cap_flags2));
  a->state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  a->max_mtu = a->active_mtu = largest_mtu();
  a->gid_tbl_len = 1;
  a->max_msg_sz = 1u << 31;
  a->pkey_tbl_len = 1;
  a->active_width = c->device->row.port_gbps == 50 ? 16 : 2;  // 2X or 4X
  a->active_speed = 32;                                       // EDR: 25 Gb/s each
  a->phys_state = up ? 5 : enabled ? 2 : 3;                   // LinkUp, Polling, Disabled
  a->link_layer = IBV_LINK_LAYER_ETHERNET;
  return 0;
}

int ibv_query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* gid) {
  Context* c = context_of(context);
  if (c == nullptr) return pass_on<int>("ibv_query_gid", -1, context, port, index, gid);
  if (port < 1 || port > c->device->row.planes || index != 0) return fail(EINVAL);
  std::memcpy(gid->raw, c->device->row.gid.data(), sizeof gid->raw);
  return 0;
}

int _ibv_query_gid_ex(ibv_context* context, uint32_t port, uint32_t index, ibv_gid_entry* entry, uint32_t flags,
                      std::size_t size) {
  Context* c = context_of(context);
  if (c == nullptr) return pass_on<int>("_ibv_query_gid_ex", ENOSYS, context, port, index, entry, flags, size);
  if (port < 1 || port > c->device->row.planes || index != 0) return ENODATA;
  if (size < sizeof *entry || flags != 0) return EINVAL;
  *entry = {};
  std::memcpy(entry->gid.raw, c->device->row.gid.data(), sizeof entry->gid.raw);
  entry->port_num = port;
  entry->gid_type = IBV_GID_TYPE_ROCE_V2;
  return 0;
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t most, uint32_t flags,
                             std::size_t size) {
  const Context* c = context_of(context);
  if (c == nullptr) return pass_on<ssize_t>("_ibv_query_gid_table", -ENOSYS, context, entries, most, flags, size);
  const uint32_t ports = c->device->row.planes;
  if (most < ports) return -EINVAL;
  for (uint32_t port = 1; port <= ports; ++port) {
    if (const int error = _ibv_query_gid_ex(context, port, 0, &entries[port - 1], flags, size); error != 0)
      return -error;
  }
  return ports;
}

int ibv_query_pkey(ibv_context* context, uint8_t port, int index, __be16* pkey) {
  const Context* c = context_of(context);
  if (c == nullptr) return pass_on<int>("ibv_query_pkey", -1, context, port, index, pkey);
  if (port < 1 || port > c->device->row.planes || index != 0) return fail(EINVAL);
  *pkey = htobe16(0xffff);
  return 0;
}

int ibv_get_pkey_index(ibv_context* context, uint8_t port, __be16 pkey) {
  const Context* c = context_of(context);
  if (c == nullptr) return pass_on<int>("ibv_get_pkey_index", -1, context, port, pkey);
  return port >= 1 && port <= c->device->row.planes && pkey == htobe16(0xffff) ? 0 : fail(EINVAL);
}

// Protection domains, regions.

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  Context* c = context_of(context);
  if (c == nullptr) return pass_on<ibv_pd*>("ibv_alloc_pd", nullptr, context);
  auto* pd = new (std::nothrow) ibv_pd{};
  if (pd == nullptr) return nullptr;
  const std::scoped_lock lock(c->mutex);
  Number number{};
  if (const int error = c->connection.query(AllocPd{}, number); error != 0) {
    delete pd;
    errno = error;
    return nullptr;
  }
  *pd = {context, number.value};
  ++c->pds;
  return pd;
}

int ibv_dealloc_pd(ibv_pd* pd) {
  Context* c = context_of(pd->context);
  if (c == nullptr) return pass_on<int>("ibv_dealloc_pd", ENOSYS, pd);
  const std::scoped_lock lock(c->mutex);
  Done done{};
  if (const int error = c->connection.query(DeallocPd{pd->handle}, done); error != 0 && error != EIO) return error;
  --c->pds;
  delete pd;
  return 0;
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) {
  Context* c = context_of(pd->context);
  if (c == nullptr) return pass_on<ibv_mr*>("ibv_reg_mr", nullptr, pd, address, bytes, access);
  return register_region(pd, address, bytes, reinterpret_cast<uint64_t>(address), static_cast<unsigned>(access), *c);
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t bytes, uint64_t iova, int access) {
  Context* c = context_of(pd->context);
  if (c == nullptr) return pass_on<ibv_mr*>("ibv_reg_mr_iova", nullptr, pd, address, bytes, iova, access);
  return register_region(pd, address, bytes, iova, static_cast<unsigned>(access), *c);
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t bytes, uint64_t iova, unsigned access) {
  Context* c = context_of(pd->context);
  if (c == nullptr) return pass_on<ibv_mr*>("ibv_reg_mr_iova2", nullptr, pd, address, bytes, iova, access);
  return register_region(pd, address, bytes, iova, access, *c);
}

int ibv_dereg_mr(ibv_mr* mr) {
  Context* c = context_of(mr->context);
  if (c == nullptr) return pass_on<int>("ibv_dereg_mr", ENOSYS, mr);
  const std::scoped_lock lock(c->mutex);
  Done done{};
  if (const int error = c->connection.query(DeregMr{mr->lkey}, done); error != 0 && error != EIO) return error;
  delete mr;
  return 0;
}

// What a device of ours has not. Its objects are none of those that these functions make.

#define MRC_NOT_OURS(type, otherwise, name, context, parameters, arguments)                                        \
  type name parameters {                                                                                           \
    if (Context* c = context_of(context)) {                                                                        \
      not_there(c, #name);                                                                                         \
      return otherwise;                                                                                            \
    }                                                                                                              \
    return std::apply([](auto... a) { return pass_on<type>(#name, otherwise, a...); }, std::make_tuple arguments); \
  }

MRC_NOT_OURS(int, ENOTSUP, ibv_resize_cq, cq->context, (ibv_cq * cq, int cqe), (cq, cqe))
MRC_NOT_OURS(ibv_srq*, nullptr, ibv_create_srq, pd->context, (ibv_pd * pd, ibv_srq_init_attr* attr), (pd, attr))
MRC_NOT_OURS(ibv_ah*, nullptr, ibv_create_ah, pd->context, (ibv_pd * pd, ibv_ah_attr* attr), (pd, attr))
MRC_NOT_OURS(ibv_mr*, nullptr, ibv_reg_dmabuf_mr, pd->context,
             (ibv_pd * pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access),
             (pd, offset, length, iova, fd, access))
MRC_NOT_OURS(int, IBV_REREG_MR_ERR_INPUT, ibv_rereg_mr, mr->context,
             (ibv_mr * mr, int flags, ibv_pd* pd, void* address, size_t length, int access),
             (mr, flags, pd, address, length, access))

}  // extern "C"
