# SPDX-License-Identifier: Apache-2.0
"""What settings change of the bytes that both ends send alike: the tester writes, and reads, as the vector's settings
say. Fields keep the names of their places: bth.m is bit 7 of byte 1, whatever stands there."""
from .packets import CONSTANTS

TICK, MICRO_TICK = 128_000, 1_024_000  # ps: units of time stamps, tsr 0 and 1
DEFAULTS = {"CTRL.bth_m_high": 1, "IP_PLANE.lsb": 64, "UDP_PORT.port": CONSTANTS["UdpPortMrc"],
            "DSCP_TX.data": CONSTANTS["DscpTrimmable"], "DSCP_TX.rtx": CONSTANTS["DscpTrimmableRetx"],
            "DSCP_TX.ctl": CONSTANTS["DscpControl"], "DSCP_TX.ep": CONSTANTS["DscpTrimmable"]}
PLANE_BITS = 7
KNOWN = ("CTRL.bth_m", "CTRL.bth_m_high", "CTRL.ev_swap", "CTRL.icrc_outer", "CTRL.tsr_us", "CTRL.eeth_op_high",
         "CTRL.ports_from_0", "IP_PLANE.enable", "IP_PLANE.lsb", "UDP_PORT.port", "DSCP_TX.data", "DSCP_TX.rtx",
         "DSCP_TX.ctl", "DSCP_TX.ep")


class Layout:
    """The bytes of one vector's packets. settings: {"CTRL.ev_swap": 1, ...}; others do not matter here."""

    def __init__(self, settings=None):
        def get(name):
            return (settings or {}).get(name, DEFAULTS.get(name, 0))
        self.ev_swap = bool(get("CTRL.ev_swap"))
        self.icrc_outer = bool(get("CTRL.icrc_outer"))
        self.tsr = int(bool(get("CTRL.tsr_us")))
        self.eeth_high = bool(get("CTRL.eeth_op_high"))
        self.m = {("m" if get("CTRL.bth_m_high") else "se"): 1} if get("CTRL.bth_m") else {}
        self.port = get("UDP_PORT.port")
        self.plane_lsb = get("IP_PLANE.lsb") if get("IP_PLANE.enable") else None
        self.dscp = {name: get("DSCP_TX." + name) for name in ("data", "rtx", "ctl", "ep")}

    def ev_fields(self, ev):
        """(UDP source port, low 16 bits of the flow label)"""
        high, low = ev >> 16 & 0xFFFF, ev & 0xFFFF
        return (low, high) if self.ev_swap else (high, low)

    def address(self, base, plane):
        """An address of a NIC: one, or one per plane."""
        if self.plane_lsb is None:
            return base
        return base & ~(PLANE_BITS << self.plane_lsb) | (plane & PLANE_BITS) << self.plane_lsb

    def stamp(self, now):
        """tx_timestamp16 of a time in ps."""
        return now // (MICRO_TICK if self.tsr else TICK) & 0xFFFF

    def response_op(self, op):
        """The fields of an EETH that hold its op."""
        return {"reserved1": op & 3} if self.eeth_high else {"op": op}

    def op_of(self, packet):
        """The op of an endpoint response."""
        return packet.get("eeth.reserved1") & 3 if self.eeth_high else packet.get("eeth.op")


PLAIN = Layout()
