# SPDX-License-Identifier: Apache-2.0
"""The words of patterns and of packets that a script sends: kinds, short names of fields, named values.

A path "header.field" is a field of headers.json; "@name" is computed by the engine (match.py)."""
from . import packets
from .packets import CONSTANTS, ENUMS, OPCODES, snake

COMMON = {
    "psn": "@psn", "ackreq": "bth.a", "a": "bth.a", "rtx": "bth.rtx", "ts": "bth.ts", "dqp": "bth.dqp", "ev": "@ev",
    "dscp": "@dscp", "ecn": "@ecn", "p_key": "bth.p_key", "opcode": "bth.opcode", "plane": "@plane", "size": "@size",
    "icrc": "@icrc", "reserved": "@reserved", "lost": "@lost", "t": "@t", "t_first": "@t_first", "qp": "@qp",
}
BY_KIND = {
    "write": {"msn": "@msn", "rqmsn": "meth.rqmsn", "va": "reth.va", "r_key": "reth.r_key", "len": "reth.dma_length",
              "imm": "immdt.value", "bytes": "@bytes", "data": "@data"},
    "sack": {"cack": "@cack", "trigger": "@trigger", "m": "seth.m", "pr": "seth.pr", "entropy": "seth.entropy",
             "mpr": "seth.mpr", "ooo": "cc_state.ooo_count", "rcvd": "cc_state.rcvd_bytes", "base": "@base",
             "has": "@has", "lacks": "@lacks", "bit": "@bit", "probe": "@probe", "timestamp": "cc_state.tx_timestamp16"},
    "nack": {"reason": "neth.reason", "psn": "@nack_psn", "entropy": "neth.entropy", "timestamp": "neth.tx_timestamp16"},
    "ack": {"msn": "@ack_msn", "syndrome": "aeth.syndrome"},
    "nak": {"msn": "@ack_msn", "syndrome": "aeth.syndrome"},
    "probe": {"id": "peth.probe_id", "timestamp": "peth.tx_timestamp16"},
    "request": {"id": "@endpoint_id", "op": "erth.op", "mask": "erth.port_status_mask",
                "timestamp": "erth.tx_timestamp16"},
    "response": {"id": "@endpoint_id", "op": "@eeth_op", "timestamp": "eeth.tx_timestamp16"},
    "cqe": {"status": "@status", "receive": "@receive", "wr_id": "@wr_id", "imm": "@imm", "rqmsn": "@cqe_msn",
            "bytes": "@cqe_bytes", "t": "@t", "qp": "@qp"},
    "any": {},
}
KINDS = tuple(BY_KIND)
WRITE_PARTS = {"first": (OPCODES["WriteFirst"],), "middle": (OPCODES["WriteMiddle"],),
               "last": (OPCODES["WriteLast"], OPCODES["WriteLastImm"]),
               "only": (OPCODES["WriteOnly"], OPCODES["WriteOnlyImm"])}
STATUS = ("ok", "local_length", "wimm_overrun", "remote_invalid", "remote_access", "remote_operation", "retries",
          "flushed", "fatal", "other")
DSCP = {"no_trim": CONSTANTS["DscpNoTrim"], "data": CONSTANTS["DscpTrimmable"], "rtx": CONSTANTS["DscpTrimmableRetx"],
        "trimmed": CONSTANTS["DscpTrimmed"], "lasthop": CONSTANTS["DscpTrimmedLasthop"],
        "control": CONSTANTS["DscpControl"]}
ECN = {"not": 0, "ect1": 1, "ect0": 2, "ce": 3}


def _enum(name):
    return {snake(key): value for key, value in ENUMS[name].items()}


REASONS = _enum("nack_reason_e")
SYNDROMES = _enum("aeth_syndrome_e")
MARKS = _enum("mark_e")
OPS = _enum("erth_op_e")
WORDS = {  # named values of a path
    "neth.reason": REASONS, "seth.m": MARKS, "aeth.syndrome": SYNDROMES, "erth.op": OPS, "eeth.op": OPS,
    "@eeth_op": OPS,
    "@dscp": DSCP, "@ecn": ECN, "bth.opcode": {snake(key): value for key, value in OPCODES.items()},
    "@status": {name: i for i, name in enumerate(STATUS)}, "@icrc": {"bad": 0, "good": 1},
    "@data": {"wrong": 0, "posted": 1},
}

# Packets a script can send by kind, beside those of messages: {field: default}; None: it must be said.
SENDS = {
    "sack": {"cack": None, "trigger": "cack", "m": 0, "pr": 0, "entropy": "ev of the trigger", "mpr": 0, "ooo": 0,
             "rcvd": 0, "base": "cack + 1", "has": (), "bitmap": 0, "probe": 0, "timestamp": 0, "psn": "cack",
             "dqp": "peer"},
    "nack": {"reason": None, "psn": None, "entropy": "ev of the packet", "timestamp": 0, "dqp": "peer"},
    "ack": {"psn": None, "msn": None, "syndrome": SYNDROMES["ack"], "dqp": "peer"},
    "nak": {"psn": None, "msn": None, "syndrome": None, "dqp": "peer"},
    "probe": {"id": None, "timestamp": 0, "dqp": "peer"},
    "request": {"op": None, "id": None, "mask": 0, "timestamp": 0},
    "response": {"op": None, "id": None, "timestamp": 0},
}


def path_of(kind, word):
    """The path behind a word in a pattern of this kind; None if there is none."""
    if "." in word:
        return word if packets.field_info(word) else None
    return BY_KIND[kind].get(word) or COMMON.get(word)


def words_of(kind):
    return sorted(set(BY_KIND[kind]) | (set() if kind == "cqe" else set(COMMON)))


def field_info_exists(header):
    """Is this the name of a header?"""
    return header in packets.HEADERS
