/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, devices, contexts, protection domains, regions. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include "suite.h"

/* Versions. */

static void has_all(const char* const* names) {
  for (; *names != NULL; ++names) {
    if (dlsym(RTLD_DEFAULT, *names) == NULL) fail_test(__FILE__, __LINE__, "there is no %s", *names);
  }
}

TEST(version, all_of_mrc_h, Header, "mrc.h", "A library has every function of the header.") {
  static const char* const kNames[] = {"mrc_query_version",       "mrc_query_device",
                                       "mrc_query_device_ex",     "mrc_create_context",
                                       "mrc_destroy_context",     "mrc_create_comp_channel",
                                       "mrc_get_comp_channel_fd", "mrc_destroy_comp_channel",
                                       "mrc_create_cq",           "mrc_poll_cq",
                                       "mrc_destroy_cq",          "mrc_create_qp_hint",
                                       "mrc_destroy_qp_hint",     "mrc_query_qp_hint",
                                       "mrc_modify_qp_hint",      "mrc_create_qp",
                                       "mrc_destroy_qp",          "mrc_query_qp",
                                       "mrc_modify_qp",           "mrc_get_qpn",
                                       "mrc_post_recv",           "mrc_post_send",
                                       "mrc_get_async_event",     "mrc_ack_async_event",
                                       "mrc_req_notify_cq",       "mrc_get_cq_event",
                                       "mrc_ack_cq_events",       NULL};
  has_all(kNames);
}

TEST(version, all_of_mrc_ctl_h, Header, "mrc_ctl.h", "A library has every function of the controller's header.") {
  static const char* const kNames[] = {
      "mrc_ctl_query_version",        "mrc_ctl_query_device",       "mrc_ctl_query_device_ex",
      "mrc_ctl_query_port",           "mrc_ctl_modify_port",        "mrc_ctl_modify_ev_fmt_profile",
      "mrc_ctl_query_ev_fmt_profile", "mrc_ctl_modify_ev_profile",  "mrc_ctl_query_ev_profile",
      "mrc_ctl_modify_cc_profile",    "mrc_ctl_query_cc_profile",   "mrc_ctl_create_ev_event_cq",
      "mrc_ctl_poll_ev_event",        "mrc_ctl_ep_batch_send_wait", NULL};
  has_all(kNames);
}

static void are_versions(const uint32_t v[4], const uint32_t again[4]) {
  WANT(v[0] >= MRC_API_VER(1, 0, 0) && v[0] >> 24 != 255 /* MRC_API_VER_LATEST */);
  WANT(v[1] <= v[0]);
  WANT(v[3] <= v[2]);
  WANT(memcmp(v, again, 4 * sizeof *v) == 0);
}

TEST(version, range, Header, "mrc_query_version",
     "The oldest version is not newer than the current one; without a context.") {
  uint32_t v[4] = {1, 2, 3, 4}, again[4] = {5, 6, 7, 8};
  mrc_query_version(&v[0], &v[1], &v[2], &v[3]);
  mrc_query_version(&again[0], &again[1], &again[2], &again[3]);
  are_versions(v, again);
}

TEST(version, range_of_the_controller, Header, "mrc_ctl_query_version",
     "The controller's part has versions of its own, also without a context.") {
  uint32_t v[4] = {1, 2, 3, 4}, again[4] = {5, 6, 7, 8};
  mrc_ctl_query_version(&v[0], &v[1], &v[2], &v[3]);
  mrc_ctl_query_version(&again[0], &again[1], &again[2], &again[3]);
  are_versions(v, again);
}

static const struct row kVersions[] = {{"not_told", 0, 0, 0},
                                       {"1.0.0", MRC_API_VER(1, 0, 0), 0, 0},
                                       {"vendor_oldest", 0, 1, 0},
                                       {"vendor_newest", 0, 2, 0},
                                       {"newest", -1, 0, 0}};
TESTS(version, context_for, kVersions, Header, "mrc_context_attr",
      "A program may name any version that the library supports, or none: 0.") {
  uint32_t v[4];
  mrc_query_version(&v[0], &v[1], &v[2], &v[3]);
  open_end(&a, 0);
  struct mrc_context_attr attr = {.mrc_api_version_used = row->a < 0 ? v[0] : (uint32_t)row->a,
                                  .mrc_vendor_api_version_used = row->b == 0   ? 0
                                                                 : row->b == 1 ? v[3]
                                                                               : v[2]};
  struct mrc_context* context = mrc_create_context(a.device, &attr);
  WANT(context != NULL);
  EQUAL(mrc_destroy_context(context), 0);
}

static const struct row kNewer[] = {{"program", 1, 0, 0}, {"vendor", 0, 1, 0}};
TESTS(version, context_for_a_newer, kNewer, Reading, "mrc_context_attr",
      "A program that is written for a newer version than the library's gets no context: EINVAL.") {
  uint32_t v[4];
  mrc_query_version(&v[0], &v[1], &v[2], &v[3]);
  open_end(&a, 0);
  struct mrc_context_attr attr = {.mrc_api_version_used = row->a != 0 ? v[0] + 1 : 0,
                                  .mrc_vendor_api_version_used = row->b != 0 ? v[2] + 1 : 0};
  NOTHING(mrc_create_context(a.device, &attr), EINVAL);
}

/* Devices. */

TEST(device, list_ends, Verbs, "ibv_get_device_list",
     "The list has as many devices as it says, and a NULL behind them.") {
  int count = -1;
  struct ibv_device** list = ibv_get_device_list(&count);
  WANT(list != NULL && count >= 1);
  for (int i = 0; i < count; ++i) WANT(list[i] != NULL && ibv_get_device_name(list[i])[0] != 0);
  WANT(list[count] == NULL);
  ibv_free_device_list(list);
}

TEST(device, list_without_a_count, Verbs, "ibv_get_device_list", "Who does not want the count passes NULL.") {
  struct ibv_device** list = ibv_get_device_list(NULL);
  WANT(list != NULL && list[0] != NULL);
  ibv_free_device_list(list);
}

TEST(device, names_differ, Verbs, "ibv_get_device_name", "No two devices have the same name.") {
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < i; ++k) WANT(strcmp(ibv_get_device_name(list[i]), ibv_get_device_name(list[k])) != 0);
  }
}

TEST(device, stays_open_without_the_list, Verbs, "ibv_free_device_list",
     "A device that was opened stays open when the list is gone.") {
  open_end(&a, 0);
  struct ibv_device_attr attr;
  EQUAL(ibv_query_device(a.device, &attr), 0);
}

TEST(device, opens_many_times, Verbs, "ibv_open_device; google DeviceTest.OpenMany",
     "A device can be opened several times, and each is a context of its own.") {
  struct ibv_context* open[8];
  for (int i = 0; i < 8; ++i) open[i] = open_device(device_name(0));
  for (int i = 1; i < 8; ++i) WANT(open[i] != open[0]);
  for (int i = 0; i < 8; ++i) EQUAL(ibv_close_device(open[i]), 0);
}

static void* opens(void* name) {
  for (int i = 0; i < 4; ++i) EQUAL(ibv_close_device(open_device(name)), 0);
  return NULL;
}

TEST(device, opens_in_threads, Verbs, "ibv_open_device; google DeviceTest.OpenInManyThreads",
     "Threads open devices at the same time.") {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) WANT(pthread_create(&threads[i], NULL, opens, (void*)device_name(i % 2)) == 0);
  for (int i = 0; i < 4; ++i) WANT(pthread_join(threads[i], NULL) == 0);
}

TEST(device, limits_mean_something, Verbs, "ibv_query_device; google DeviceTest.QueryDevice",
     "A device has ports, queue pairs, completion queues, regions and PDs.") {
  open_end(&a, 0);
  WANT(a.verbs.phys_port_cnt >= 1 && a.verbs.max_qp >= 1 && a.verbs.max_qp_wr >= 1 && a.verbs.max_sge >= 1);
  WANT(a.verbs.max_cq >= 1 && a.verbs.max_cqe >= 1 && a.verbs.max_mr >= 1 && a.verbs.max_pd >= 1);
}

TEST(device, speaks_MRC, Header, "mrc_query_device", "*supported is not 0, and the device names version 1, or none.") {
  open_end(&a, 0);
  WANT(a.mrc.mrc_protocol_version == 0 || (a.mrc.mrc_protocol_version & MRC_PROTOCOL_VERSION_1) != 0);
}

TEST(device, windows, Header, "mrc_device_attr.mpr_attr",
     "max_mpr is a multiple of mpr_resolution, both in units of 128 PSNs.") {
  open_end(&a, 0);
  WANT(a.mrc.mpr_attr.max_mpr >= 1 && a.mrc.mpr_attr.mpr_resolution >= 1);
  EQUAL(a.mrc.mpr_attr.max_mpr % a.mrc.mpr_attr.mpr_resolution, 0);
}

TEST(device, immediates, Header, "mrc_device_attr.wimm_attr", "At least one immediate may be on its way each way.") {
  open_end(&a, 0);
  WANT(a.mrc.wimm_attr.max_wimm >= 1 && a.mrc.wimm_attr.max_wimm_dest >= 1);
}

TEST(device, capabilities_are_known, Header, "enum mrc_device_cap", "cap has bits of mrc_device_cap alone.") {
  open_end(&a, 0);
  EQUAL(a.mrc.cap & ~(uint32_t)(MRC_DEVICE_CAP_TRIM_NACK | MRC_DEVICE_CAP_DYNAMIC_MPR | MRC_DEVICE_CAP_SVC_TIME), 0);
}

TEST(device, both_queries_agree, Header, "mrc_query_device_ex", "With a context of the same device it says the same.") {
  open_end(&a, 0);
  struct mrc_device_attr attr;
  memset(&attr, 0xff, sizeof attr);
  int supported = 0;
  EQUAL(mrc_query_device_ex(a.device, a.context, &attr, &supported), 0);
  WANT(supported != 0 && attr.cap == a.mrc.cap && attr.mrc_protocol_version == a.mrc.mrc_protocol_version);
  WANT(memcmp(&attr.wimm_attr, &a.mrc.wimm_attr, sizeof attr.wimm_attr) == 0);
  WANT(memcmp(&attr.mpr_attr, &a.mrc.mpr_attr, sizeof attr.mpr_attr) == 0);
  EQUAL(attr.qp_attr.max_qp_hint, a.mrc.qp_attr.max_qp_hint);
}

static const struct row kNulls[] = {{"no_attr", 0, 1, 0}, {"no_supported", 1, 0, 0}};
TESTS(device, query_wants_places, kNulls, Reading, "mrc_query_device", "Without a place for an answer: -1, EINVAL.") {
  open_end(&a, 0);
  struct mrc_device_attr attr;
  int supported;
  REFUSED(mrc_query_device(a.device, row->a ? &attr : NULL, row->b ? &supported : NULL), EINVAL);
}

TEST(device, query_with_a_foreign_context, Reading, "mrc_query_device_ex",
     "A context of another open device is none of this one: -1, EINVAL.") {
  open_end(&a, 0);
  open_end(&b, 1);
  struct mrc_device_attr attr;
  int supported;
  REFUSED(mrc_query_device_ex(a.device, b.context, &attr, &supported), EINVAL);
}

TEST(device, ports_are_active, Verbs, "ibv_query_port", "Every port can be queried, and has at least one GID.") {
  open_end(&a, 0);
  for (unsigned port = 1; port <= a.verbs.phys_port_cnt; ++port) {
    struct ibv_port_attr attr;
    EQUAL(ibv_query_port(a.device, (uint8_t)port, &attr), 0);
    WANT(attr.gid_tbl_len >= 1 && attr.active_mtu >= IBV_MTU_256 && attr.active_mtu <= attr.max_mtu);
    EQUAL(attr.state, IBV_PORT_ACTIVE);
  }
}

static const struct row kNoPorts[] = {{"0", 0, 0, 0}, {"one_too_high", 0, 1, 0}};
TESTS(device, no_such_port, kNoPorts, Verbs, "ibv_query_port", "Ports are numbered from 1 to phys_port_cnt.") {
  open_end(&a, 0);
  struct ibv_port_attr attr;
  WANT(ibv_query_port(a.device, (uint8_t)(row->b == 0 ? 0 : a.verbs.phys_port_cnt + 1), &attr) != 0);
}

TEST(device, gids_are_RoCE_v2, Header, "mrc_ctl_ep_req.sgid", "GIDs of MRC are of type ROCE_V2, and no GID is zero.") {
  open_end(&a, 0);
  struct ibv_gid_entry entry;
  static const union ibv_gid kZero;
  EQUAL(ibv_query_gid_ex(a.device, 1, 0, &entry, 0), 0);
  EQUAL(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
  WANT(memcmp(&entry.gid, &kZero, sizeof kZero) != 0 && memcmp(&entry.gid, &a.gid, sizeof a.gid) == 0);
}

TEST(device, no_such_GID, Verbs, "ibv_query_gid", "An index behind the table has no GID.") {
  open_end(&a, 0);
  struct ibv_port_attr attr;
  union ibv_gid gid;
  EQUAL(ibv_query_port(a.device, 1, &attr), 0);
  WANT(ibv_query_gid(a.device, 1, attr.gid_tbl_len, &gid) != 0);
}

/* Contexts. */

TEST(context, two_on_one_device, Header, "mrc_create_context", "Several users of the library each have a context.") {
  open_end(&a, 0);
  struct mrc_context* other = mrc_create_context(a.device, NULL);
  WANT(other != NULL && other != a.context);
  EQUAL(mrc_destroy_context(other), 0);
  EQUAL(mrc_destroy_context(a.context), 0);
}

TEST(context, without_a_device, Reading, "mrc_create_context", "NULL for a device: no context, EINVAL.") {
  NOTHING(mrc_create_context(NULL, NULL), EINVAL);
}

TEST(context, destroy_none, Header, "mrc_destroy_context", "What fails returns -1, with errno.") {
  errno = 0;
  EQUAL(mrc_destroy_context(NULL), -1);
  EQUAL(errno, EINVAL);
}

TEST(context, stays_while_it_has_objects, Reading, "mrc_create_context",
     "It is the parent of all other objects: while there are some, it stays: EBUSY.") {
  fill_end(&a, 0);
  REFUSED(mrc_destroy_context(a.context), EBUSY);
  EQUAL(mrc_destroy_cq(a.send_cq), 0);
  EQUAL(mrc_destroy_cq(a.recv_cq), 0);
  EQUAL(mrc_destroy_context(a.context), 0);
}

TEST(context, made_and_destroyed_often, Header, "mrc_destroy_context",
     "A context leaves nothing: 1000 after each other.") {
  open_end(&a, 0);
  for (int i = 0; i < 1000; ++i) {
    struct mrc_context* context = mrc_create_context(a.device, NULL);
    WANT(context != NULL && mrc_destroy_context(context) == 0);
  }
}

/* Protection domains, regions. */

TEST(pd, alloc_and_free, Verbs, "ibv_alloc_pd; google PdTest.AllocPd",
     "A PD belongs to its device, and can be freed.") {
  open_end(&a, 0);
  WANT(a.pd->context == a.device);
  EQUAL(ibv_dealloc_pd(a.pd), 0);
}

TEST(pd, stays_while_it_has_a_region, Verbs, "ibv_dealloc_pd; google PdTest.MrRefCount",
     "A PD with a region cannot be freed; without it, it can.") {
  fill_end(&a, 0);
  REFUSED(ibv_dealloc_pd(a.pd), EBUSY);
  EQUAL(ibv_dereg_mr(a.mr), 0);
  EQUAL(ibv_dealloc_pd(a.pd), 0);
}

TEST(pd, stays_while_it_has_a_QP, Verbs, "ibv_dealloc_pd; google PdTest.QpRefCount",
     "A PD with a queue pair cannot be freed; without it, it can.") {
  fill_end(&a, 0);
  give_qp(&a);
  EQUAL(ibv_dereg_mr(a.mr), 0);
  REFUSED(ibv_dealloc_pd(a.pd), EBUSY);
  EQUAL(mrc_destroy_qp(a.qp), 0);
  EQUAL(ibv_dealloc_pd(a.pd), 0);
}

static const struct row kAccess[] = {{"none", 0, 1, 0},
                                     {"local_write", IBV_ACCESS_LOCAL_WRITE, 1, 0},
                                     {"local_and_remote_write", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, 1, 0},
                                     {"remote_write_alone", IBV_ACCESS_REMOTE_WRITE, 0, 0}};
TESTS(mr, access, kAccess, Verbs, "ibv_reg_mr; google MrTest.RegisterMemory, RemoteWriteWithoutLocalWrite",
      "Remote writes need local ones; the other ways to register a region work.") {
  open_end(&a, 0);
  static unsigned char buffer[8192];
  errno = 0;
  struct ibv_mr* mr = ibv_reg_mr(a.pd, buffer, sizeof buffer, (int)row->a);
  if (row->b == 0) {
    WANT(mr == NULL);
    return;
  }
  WANT(mr != NULL && mr->addr == buffer && mr->length == sizeof buffer && mr->pd == a.pd && mr->context == a.device);
  EQUAL(ibv_dereg_mr(mr), 0);
}

TEST(mr, one_byte, Verbs, "ibv_reg_mr", "A region may begin anywhere and have one byte.") {
  open_end(&a, 0);
  static unsigned char buffer[3];
  struct ibv_mr* mr = ibv_reg_mr(a.pd, buffer + 1, 1, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  WANT(mr != NULL);
  EQUAL(ibv_dereg_mr(mr), 0);
}

TEST(mr, no_memory_there, Verbs, "ibv_reg_mr", "Memory that is not mapped cannot be registered.") {
  open_end(&a, 0);
  void* gone = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  WANT(gone != MAP_FAILED && munmap(gone, 8192) == 0);
  WANT(ibv_reg_mr(a.pd, gone, 8192, IBV_ACCESS_LOCAL_WRITE) == NULL);
}

TEST(mr, wraps_around, Verbs, "ibv_reg_mr", "A region that goes round the end of all addresses is none.") {
  fill_end(&a, 0);
  WANT(ibv_reg_mr(a.pd, a.buffer, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE) == NULL);
}

TEST(mr, twice_the_same_memory, Verbs, "ibv_reg_mr", "Memory can be registered several times; keys differ.") {
  fill_end(&a, 0);
  struct ibv_mr* other = ibv_reg_mr(a.pd, a.buffer, setup.bytes, setup.access);
  WANT(other != NULL && other->lkey != a.mr->lkey && other->rkey != a.mr->rkey);
  EQUAL(ibv_dereg_mr(other), 0);
}

TEST(mr, half_of_all_at_once, Verbs, "ibv_query_device, max_mr; google DeviceLimitTest.MaxMr",
     "Half as many regions as the device names, or 64, are there together.") {
  fill_end(&a, 0);
  const int count = a.verbs.max_mr / 2 < 64 ? a.verbs.max_mr / 2 : 64;
  struct ibv_mr* all[64];
  for (int i = 0; i < count; ++i) WANT((all[i] = ibv_reg_mr(a.pd, a.buffer, 64, setup.access)) != NULL);
  for (int i = 0; i < count; ++i) EQUAL(ibv_dereg_mr(all[i]), 0);
}

TEST(mr, read_only_memory, Verbs, "ibv_reg_mr", "Memory that is read-only can be registered without write access.") {
  open_end(&a, 0);
  static const unsigned char kBuffer[8192] = {1};
  struct ibv_mr* mr = ibv_reg_mr(a.pd, (void*)kBuffer, sizeof kBuffer, 0);
  WANT(mr != NULL);
  EQUAL(ibv_dereg_mr(mr), 0);
}

static void* registers(void* buffer) {
  for (int i = 0; i < 20; ++i) {
    struct ibv_mr* mr = ibv_reg_mr(a.pd, buffer, 64, IBV_ACCESS_LOCAL_WRITE);
    WANT(mr != NULL);
    EQUAL(ibv_dereg_mr(mr), 0);
  }
  return NULL;
}

TEST(mr, in_threads, Verbs, "ibv_reg_mr; google ThreadedTest.RegDeregMr",
     "Threads register regions at the same time.") {
  open_end(&a, 0);
  static unsigned char buffers[4][64];
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) WANT(pthread_create(&threads[i], NULL, registers, buffers[i]) == 0);
  for (int i = 0; i < 4; ++i) WANT(pthread_join(threads[i], NULL) == 0);
}
