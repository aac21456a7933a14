/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MRC_COMMON_H
#define MRC_COMMON_H
/* Words that mrc_ref.h (the judge) and mrc_nic.h (any NIC) share. */

enum {
  MRC_OK = 0,
  MRC_E_VERSION = -1, /* another version of the header */
  MRC_E_SIZE = -2,    /* a struct is smaller than version 1 has it */
  MRC_E_ARG = -3,     /* the call is wrong: a value out of range, a name that is not known */
  MRC_E_PAST = -4,    /* a time that has passed, or that cannot be */
  MRC_E_UNSUPPORTED =
      -5,         /* lawfully cannot; of the judge: not at this time, after the first observation, after the end */
  MRC_E_DEAD = -6 /* broken, or out of memory: every call says so from now on */
};

enum { MRC_QP_RESET, MRC_QP_INIT, MRC_QP_RTR, MRC_QP_RTS, MRC_QP_ERROR };

/* What a NIC may show of its inside. Arguments: docs/reference/log.md. */
enum {
  MRC_EV_TAKE,
  MRC_EV_ANSWER,
  MRC_EV_HEARD,
  MRC_EV_LOST,
  MRC_EV_PATH,
  MRC_EV_CC,
  MRC_EV_TIMER,
  MRC_EV_WINDOW,
  MRC_EV_QP
};
#endif
