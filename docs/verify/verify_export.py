"""Verifies the export of an audit chain with nothing of Gatehouse: python3 verify_export.py chain.jsonl [PUBLIC_KEY].

Written from docs/reference/ledger-export.md. PUBLIC_KEY is base64 of the 32 bytes of the key you trust; without it the keys
of the export are believed. Prints each finding as `verdict@chain_seq` and then a summary; exits with 0 when there is none.
"""

import base64
import hashlib
import json
import re
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

V1 = (
    "id tenant_id timestamp proxy_type proxy_subtype actor_agent_id subject_id subject_kind api_key_id resource_group_id "
    "http_method endpoint mcp_capability_name llm_model_used agent_authz_decision agent_grant_id semantic_policy_id "
    "argument_policy_id guardrail_config_id guardrail_check guardrail_action autonomy_level autonomy_provenance "
    "consumed_approval_request_id guardrail_blocked argument_policy_denied http_status_code success root_task_id turn_id"
).split()
ADDED_BY_V2 = "request_content_hash response_content_hash server_version tool_definition_hash".split()
NOTE = re.compile(
    r"(gw\.audit/([^\n]+)\n(\d+)\n([A-Za-z0-9+/]{43}=)\ntime ([^\n]+)\nfirst (\d+)\nprevious ([^\n]+)\n)\n\u2014 gw\.audit ([A-Za-z0-9+/=]+)\n"
)


def row_hash(row, form, fields):
    array = [form] + [row.get(name) for name in fields]
    text = json.dumps(array, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode() + bytes.fromhex(row["prev_hash"])).hexdigest()


def gives_its_hash(row):
    try:
        if row_hash(row, "v2", V1 + ADDED_BY_V2) == row["row_hash"]:
            return True
        return all(row.get(name) is None for name in ADDED_BY_V2) and row_hash(row, "v1", V1) == row["row_hash"]
    except (KeyError, TypeError, ValueError):
        return False


class Chain:
    def __init__(self, facts, trusted):
        self.facts = facts
        self.trusted = trusted
        self.keys = {}
        self.findings = []
        self.rows = 0
        self.checkpoints = 0
        self.next_seq = facts["first_seq"]
        self.head = "0" * 64 if self.next_seq == 1 else None
        self.previous = "-"
        self.covered = 0

    def key(self, line):
        public = base64.b64decode(line["public_key"])
        if self.trusted is not None and public != self.trusted:
            return
        key_id = hashlib.sha256(line["name"].encode() + b"\n\x01" + public).digest()[:4]
        self.keys[key_id] = (Ed25519PublicKey.from_public_bytes(public), line["valid_from"], line["valid_to"])

    def find(self, verdict, seq):
        self.findings.append(f"{verdict}@{seq}")

    def place(self, seq, prev_hash, this_hash):
        if seq > self.next_seq:
            self.find("missing", self.next_seq)
        elif seq < self.next_seq or (self.head is not None and prev_hash != self.head):
            self.find("broken_link", seq)
        self.next_seq = seq + 1
        self.head = this_hash

    def row(self, row):
        self.rows += 1
        if row.get("chain_id") != self.facts["chain_id"]:
            self.find("broken_link", row["chain_seq"])
        if not gives_its_hash(row):
            self.find("altered", row["chain_seq"])
        self.place(row["chain_seq"], row["prev_hash"], row["row_hash"])

    def checkpoint(self, note, seq, first_one=False):
        self.checkpoints += 1
        parts = NOTE.fullmatch(note)
        if parts is None:
            return self.find("checkpoint_invalid", seq)
        text, chain_id, signed_seq, signed_hash, time, first, previous, signature = parts.groups()
        raw = base64.b64decode(signature)
        key, valid_from, valid_to = self.keys.get(raw[:4], (None, None, None))
        try:
            if key is None or (valid_from and time < valid_from) or (valid_to and time > valid_to):
                raise InvalidSignature
            key.verify(raw[4:], text.encode())
        except InvalidSignature:
            return self.find("checkpoint_invalid", seq)
        signed_hash = base64.b64decode(signed_hash).hex()
        follows = first_one or (previous == self.previous and int(first) == self.covered + 1)
        stands = first_one or (int(signed_seq) == self.next_seq - 1 and signed_hash == self.head)
        if chain_id != self.facts["chain_id"] or int(signed_seq) != seq or not follows or not stands:
            self.find("checkpoint_invalid", seq)
        self.previous = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        self.covered = int(signed_seq)
        return signed_hash

    def pruned(self, line):
        # Anywhere but before the rows, or up to another row than the chain says, it would cover up for rows that are gone.
        if self.head is not None or line["through_seq"] + 1 != self.next_seq:
            return self.find("missing", self.next_seq)
        if self.checkpoint(line["checkpoint"], line["through_seq"], first_one=True) != line["row_hash"]:
            self.find("checkpoint_invalid", line["through_seq"])
        self.head = line["row_hash"]

    def end(self):
        if self.facts["head_seq"] is not None and self.next_seq <= self.facts["head_seq"]:
            self.find("missing", self.next_seq)
        elif self.next_seq - 1 == self.facts["head_seq"] and self.head != self.facts["head_hash"]:
            self.find("altered", self.facts["head_seq"])
        if (self.facts["last_checkpoint_seq"] or 0) > self.covered:
            self.find("missing", self.facts["last_checkpoint_seq"])


def main(path, public_key=None):
    chain = None
    with open(path, encoding="utf-8", newline="\n") as lines:
        for text in lines:
            line = json.loads(text)
            kind = line["type"]
            if (kind == "chain") != (chain is None):
                sys.exit("not an export of one chain: its chain line stands first, and once")
            if kind == "chain":
                chain = Chain(line, None if public_key is None else base64.b64decode(public_key))
            elif kind == "key":
                chain.key(line)
            elif kind == "row":
                chain.row(line["row"])
            elif kind == "link":
                chain.place(line["chain_seq"], line["prev_hash"], line["row_hash"])
            elif kind == "checkpoint":
                chain.checkpoint(line["note"], line["chain_seq"])
            elif kind == "pruned":
                chain.pruned(line)
    chain.end()
    for finding in chain.findings:
        print(finding)
    waiting = chain.next_seq - 1 - chain.covered
    print(f"{chain.rows} rows, {chain.checkpoints} checkpoints, {waiting} rows wait for one, {len(chain.findings)} findings")
    return 1 if chain.findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
