# SPDX-License-Identifier: Apache-2.0
"""A QP of the device as the tester knows it. The bed has one, or several, to one peer or to many."""
PEER_QP = 17
PEER_IPS = ("fd00::1", "fd00::11", "fd00::12", "fd00::13", "fd00::14", "fd00::15", "fd00::16", "fd00::17")
PSNS_APART = 0x10000    # first PSNs of a QP and of the next
WORK_APART = 1 << 20    # wr_id of their work
FIRST = "first"         # what scripts call the QP that is there from the beginning
FIRST_PSN = ("sq_psn", "rq_psn", "msn", "rqmsn")


class Qp:
    """Its numbers, what was sent to it, what was posted of it."""

    def __init__(self, name, index, number, to=1):
        self.name, self.index, self.number = name, index, number
        self.peer_qp, self.to = PEER_QP + index, to
        self.peer_ip, self.peer_mac = PEER_IPS[to - 1], f"02:00:00:00:{to - 1:02x}:01"
        self.peer = None
        self.profile = {}
        self.before = index * WORK_APART  # posts of incarnations before: wr_id goes on counting

    def begin(self, profile):
        """Numbers of a QP of which nothing has been sent."""
        self.profile = profile
        self.mtu, self.sq_psn, self.rq_psn = (profile[key] for key in ("mtu", "sq_psn", "rq_psn"))
        self.next_psn, self.next_msn, self.next_rqmsn = self.rq_psn, profile["msn"], profile["rqmsn"]
        self.sq_msn = self.rq_msn = profile["msn"]
        self.post_psn, self.post_msn = self.sq_psn, profile["msn"]
        self.posts, self.backlog, self.completed, self.full = [], [], 0, False
        self.messages = {}
        self.sent = {}          # PSN -> times at which a whole packet of ours reached the device
        self.reported = set()   # PSNs that a SACK has reported

    def name_of_psn(self, psn):
        for message in self.messages.values():
            if message.first <= psn <= message.last:
                return f"{message.name}[{psn - message.first}]"
        if abs(psn - self.rq_psn) < 1 << 16 and self.messages:
            return f"rq_psn{psn - self.rq_psn:+d}"
        if abs(psn - self.sq_psn) < 1 << 22:
            return f"sq_psn{psn - self.sq_psn:+d}"
        return str(psn)


OF_A_QP = ("profile", "mtu", "sq_psn", "rq_psn", "next_psn", "next_msn", "next_rqmsn", "sq_msn", "rq_msn", "post_psn",
           "post_msn", "posts", "backlog", "completed", "full", "before", "messages", "sent", "reported", "peer")


def of_the_own(name):
    """An attribute of the bed that is one of the QP of which the script is speaking."""
    return property(lambda bed: getattr(bed.own, name), lambda bed, value: setattr(bed.own, name, value))
