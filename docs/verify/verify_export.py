"""Verifies the export of an audit chain with nothing of Gatehouse: python3 verify_export.py chain.jsonl [PUBLIC_KEY ...].

Written from docs/reference/ledger-export.md. PUBLIC_KEY is base64 of the 32 bytes of a key you trust: each that signed, where
the signing key was changed; without one the keys of the export are believed. Prints each finding as `verdict@chain_seq` and
then a summary. Exits as `gatehouse audit verify` does: 0 intact, 1 unanchored, 2 missing, broken_link, altered or
checkpoint_invalid, 3 when the file cannot be judged.
"""

import base64
import binascii
import hashlib
import json
import math
import re
import sys
from datetime import datetime, timedelta, timezone

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    print("verify_export.py needs the package cryptography: pip install cryptography", file=sys.stderr)
    sys.exit(3)

VERDICTS = ("checkpoint_invalid", "altered", "broken_link", "missing", "unanchored", "intact")
V1 = (
    "id tenant_id timestamp proxy_type proxy_subtype actor_agent_id subject_id subject_kind api_key_id resource_group_id "
    "http_method endpoint mcp_capability_name llm_model_used agent_authz_decision agent_grant_id semantic_policy_id "
    "argument_policy_id guardrail_config_id guardrail_check guardrail_action autonomy_level autonomy_provenance "
    "consumed_approval_request_id guardrail_blocked argument_policy_denied http_status_code success root_task_id turn_id"
).split()
ADDED_BY_V2 = "request_content_hash response_content_hash server_version tool_definition_hash".split()
KEY_NAME = "gw.audit"
HASH = re.compile(r"[0-9a-f]{64}")
TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
SIGNATURE = re.compile(r"\u2014 ([^ +\n]+) ([A-Za-z0-9+/]+={0,2})")
TEXT = re.compile(
    r"gw\.audit/([^\n]+)\n([0-9]{1,16})\n([A-Za-z0-9+/]{43}=)\ntime ([^\n]+)\nfirst ([0-9]{1,16})\nprevious (-|[A-Za-z0-9+/]{43}=)\n"
)
MOST_BRANCHES = 16
# Rows that are under no checkpoint after twice the longest time between two will not come under one by themselves.
GRACE_MS = 120_000


class NotAnExport(Exception):
    pass


# What lines have to be before anything can be said of them. The fields of a row are for the verification to judge.


def text(value):
    return isinstance(value, str)


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def texts(value):
    return isinstance(value, list) and all(text(one) for one in value)


def optional(check):
    return lambda value: value is None or check(value)


SHAPES = {
    "chain": {"chain_id": text, "first_seq": number, "head_seq": optional(number), "head_hash": optional(text), "last_checkpoint_seq": optional(number), "updated_at": optional(text), "exported_at": text},
    "key": {"name": text, "public_key": text, "valid_from": optional(text), "valid_to": optional(text)},
    "row": {"row": lambda value: isinstance(value, dict)},
    "link": {"chain_seq": optional(number), "prev_hash": text, "row_hash": text, "created_at": optional(text), "hashes_to": optional(texts)},
    "checkpoint": {"chain_seq": number, "note": text},
    "pruned": {"through_seq": number, "row_hash": text, "checkpoint": text},
}


def whole(digits):
    return int(digits) if len(digits) < 20 else float(digits)


def decimal(digits):
    value = float(digits)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def no_json(name):
    raise ValueError(name)


class Members(dict):
    """An object of a line, and the member that stands in it twice: parsers differ in which of the two they take."""

    def __init__(self, pairs):
        super().__init__(pairs)
        seen = set()
        self.twice = next((name for name, _ in pairs if name in seen or seen.add(name)), None)


def parse(written):
    try:
        line = json.loads(written, parse_int=whole, parse_float=decimal, parse_constant=no_json, object_pairs_hook=Members)
    except (ValueError, RecursionError):
        raise NotAnExport("it is not JSON") from None
    if isinstance(line, dict):
        for members in (line, *line.values()):
            if isinstance(members, dict) and members.twice is not None:
                raise NotAnExport(f"it names {json.dumps(members.twice, ensure_ascii=False)} twice")
    kind = line.get("type") if isinstance(line, dict) else None
    if kind == "entry":
        raise NotAnExport("the admin log's export is not for this verifier")
    if not isinstance(kind, str) or kind not in SHAPES:
        raise NotAnExport("it is not a line of an audit export")
    for field, fits in SHAPES[kind].items():
        if not fits(line.get(field)):
            raise NotAnExport(f"its {field} is missing or of the wrong type")
    return kind, line


# Hashes of rows.


def is_safe(value):
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


def is_scalar(name, value):
    if isinstance(value, str):
        return name != "timestamp" or TIMESTAMP.fullmatch(value) is not None
    return value is None or isinstance(value, bool) or is_safe(value)


def row_hash(row, form, fields):
    """None for a row that no canonical bytes can express."""
    if not all(is_scalar(name, row.get(name)) for name in fields):
        return None
    array = json.dumps([form] + [row.get(name) for name in fields], ensure_ascii=False, separators=(",", ":"))
    try:
        return hashlib.sha256(array.encode() + bytes.fromhex(row["prev_hash"])).hexdigest()
    except UnicodeEncodeError:
        return None


def possible_hashes(row):
    """Those the row may have been sealed with: v1 only where it has none of the fields that v2 added."""
    prev_hash = row.get("prev_hash")
    if not isinstance(prev_hash, str) or HASH.fullmatch(prev_hash) is None:
        return []
    hashes = [row_hash(row, "v2", V1 + ADDED_BY_V2)]
    if hashes[0] != row.get("row_hash") and all(row.get(name) is None for name in ADDED_BY_V2):
        hashes.append(row_hash(row, "v1", V1))
    return [known for known in hashes if known is not None]


# Checkpoints.


def base64_of(written):
    """None unless it is written just as its bytes are."""
    try:
        raw = base64.b64decode(written, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw).decode() == written else None


class Key:
    def __init__(self, name, public, valid_from, valid_to):
        self.name, self.public, self.valid_from, self.valid_to = name, public, valid_from, valid_to
        self.id = hashlib.sha256(name.encode(errors="replace") + b"\n\x01" + public).digest()[:4]

    def signed(self, signed_text, raw):
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(raw[4:], signed_text.encode())
            return True
        except (InvalidSignature, ValueError):
            return False


class Checkpoint:
    def __init__(self, signed_text, parts):
        chain_id, seq, hashed, time, first, previous = parts
        self.chain_id, self.seq, self.time, self.first = chain_id, int(seq), time, int(first)
        self.row_hash = base64_of(hashed).hex()
        self.previous = None if previous == "-" else previous
        self.digest = base64.b64encode(hashlib.sha256(signed_text.encode()).digest()).decode()


def open_checkpoint(note, keys):
    """The checkpoint of a note that a trusted key signed in its time; None of any other."""
    split = note.rfind("\n\n")
    if split < 0 or not note.endswith("\n"):
        return None
    signed_text = note[: split + 1]
    found = TEXT.fullmatch(signed_text)
    if found is None or TIMESTAMP.fullmatch(found[4]) is None or base64_of(found[3]) is None:
        return None
    if any(written != str(whole(written)) or int(written) >= 2**53 for written in (found[2], found[5])):
        return None
    try:
        signed_text.encode()
    except UnicodeEncodeError:
        return None
    signer = None
    for line in note[split + 2 : -1].split("\n"):
        parts = SIGNATURE.fullmatch(line)
        raw = None if parts is None else base64_of(parts[2])
        if raw is None:
            return None
        known = [key for key in keys if key.name == parts[1] and key.id == raw[:4]]
        if not known:
            continue
        by = next((key for key in known if len(raw) == 68 and key.signed(signed_text, raw)), None)
        if by is None:
            return None
        signer = signer or by
    if signer is None:
        return None
    checkpoint = Checkpoint(signed_text, found.groups())
    early = signer.valid_from is not None and checkpoint.time < signer.valid_from
    late = signer.valid_to is not None and checkpoint.time > signer.valid_to
    return None if early or late else checkpoint


def millis(iso):
    """NaN of what is no time. The 31st of a shorter month is the first of the next."""
    parts = re.match(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})", iso) if isinstance(iso, str) else None
    if parts is None:
        return math.nan
    year, month, day, hour, minute, second, thousandths = map(int, parts.groups())
    try:
        at = datetime(year, month, 1, hour, minute, second, tzinfo=timezone.utc) + timedelta(days=day - 1)
    except (ValueError, OverflowError):
        return math.nan
    return at.timestamp() * 1000 + thousandths if 1 <= day <= 31 else math.nan


class Uncovered:
    """The rows at the end of what was read that are under no checkpoint."""

    def __init__(self):
        self.first, self.count, self.oldest, self.newest, self.undated = None, 0, math.inf, -math.inf, False

    def add(self, seq, created_at):
        self.first = seq if self.first is None else self.first
        self.count += 1
        if created_at is WITHHELD:
            return
        at = millis(created_at)
        if math.isnan(at):
            self.undated = True
        else:
            self.oldest, self.newest = min(self.oldest, at), max(self.newest, at)

    def overdue(self, now, shipped, signed):
        """Whether they should have come under a checkpoint by now. `signed` is when the newest was."""
        if self.count == 0 or self.undated or math.isnan(signed):
            return self.count > 0
        # While a writer is catching up, the checkpoint over the rows that came last may not have arrived yet.
        as_of = min(now, max(self.newest, signed)) if abs(now - shipped) <= GRACE_MS else now
        return as_of - self.oldest > GRACE_MS or self.newest - now > GRACE_MS


# When a row was written that the reader may not see.
WITHHELD = object()


class Chain:
    def __init__(self, facts, trusted):
        self.facts = facts
        self.chain_id, self.first_seq = facts["chain_id"], facts["first_seq"]
        self.head_seq, self.head_hash = facts.get("head_seq"), facts.get("head_hash")
        self.believed = trusted is None
        self.keys = [Key(KEY_NAME, public, None, None) for public in trusted or []]
        self.findings = []
        self.rows = self.links = self.checkpoints = 0
        self.started = False
        self.next_seq = self.first_seq
        # Hashes the next row may name as those of the row before it; None: nothing is known of that.
        self.allowed = ["0" * 64] if self.next_seq == 1 else None
        # Of the row that came last: its position, its possible hashes, and whether it is known to be another.
        self.last, self.hashes, self.flagged = None, [], False
        self.ahead = None
        self.beyond = None
        # What the next checkpoint must name as the one before it, and as its first row; None after one that does not hold.
        self.expected = (None, 1)
        # The positions that are missing since the checkpoint before.
        self.gap = None
        self.dropped = self.stray = None
        self.newest_line = self.newest_signed = 0
        self.newest_time = None
        self.uncovered = Uncovered()

    def find(self, verdict, seq):
        self.findings.append((verdict, seq))

    def key(self, line):
        try:
            public = base64.b64decode(line["public_key"])
        except (binascii.Error, ValueError):
            return
        if len(public) != 32:
            return
        key = Key(line["name"], public, line.get("valid_from"), line.get("valid_to"))
        for at, known in enumerate(self.keys):
            if known.public == public:
                key.name = known.name
                self.keys[at] = key
                return
        if self.believed:
            self.keys.append(key)

    def start(self):
        if self.started:
            return
        self.started = True
        if self.allowed is None and self.next_seq > 1:
            self.find("missing", 1)
            self.expected = None

    def leave(self):
        """The row that came last has all that is said of it."""
        if self.last is None:
            return
        if self.last == self.head_seq and self.head_hash is not None and not self.flagged and self.head_hash not in self.hashes:
            self.flagged = True
            self.find("altered", self.last)
        self.allowed = self.hashes

    def contradicts(self, signed_hash):
        if self.last is None or signed_hash in self.hashes:
            return False
        self.flagged = True
        # The next row may rightly name the row that was signed and stands here no more.
        self.hashes.append(signed_hash)
        self.find("checkpoint_invalid", self.last)
        return True

    def place(self, seq, prev_hash, hashes, flagged, created_at):
        if not is_safe(seq) or seq < self.next_seq:
            self.find("broken_link", seq if is_safe(seq) else self.next_seq)
            if self.last is not None and seq == self.last and len(self.hashes) < MOST_BRANCHES:
                self.hashes.extend(hashes)
            return
        self.leave()
        if seq > self.next_seq:
            self.find("missing", self.next_seq)
            self.gap = (self.gap[0] if self.gap else self.next_seq, seq - 1)
            self.allowed = [self.ahead[1]] if self.ahead is not None and self.ahead[0] == seq - 1 else None
        if self.allowed is not None and prev_hash not in self.allowed:
            self.find("missing" if seq == 1 else "broken_link", seq)
        self.last, self.hashes, self.flagged = seq, hashes, flagged
        self.next_seq = seq + 1
        if self.head_seq is not None and seq > self.head_seq:
            self.beyond = self.beyond or seq
            return
        self.uncovered.add(seq, created_at)
        if self.ahead is not None and self.ahead[0] == seq and not self.contradicts(self.ahead[1]):
            self.uncovered = Uncovered()

    def row(self, row):
        self.start()
        self.rows += 1
        seq, stored, possible = row.get("chain_seq"), row.get("row_hash"), possible_hashes(row)
        stored = "" if stored is None else stored
        where = seq if is_safe(seq) else self.next_seq
        altered = stored not in possible
        if row.get("chain_id") != self.chain_id:
            self.find("broken_link", where)
        if altered:
            self.find("altered", where)
        # Of an altered row either what it says or its stored hash is false: the next may name the one that is not.
        self.place(seq, row.get("prev_hash"), [stored, *possible] if altered else [stored], altered, row.get("created_at"))

    def link(self, line):
        self.start()
        self.links += 1
        seq, instead, created_at = line.get("chain_seq"), line.get("hashes_to"), line.get("created_at")
        if instead is not None:
            self.find("altered", seq if is_safe(seq) else self.next_seq)
        self.place(seq, line["prev_hash"], [line["row_hash"], *(instead or [])], instead is not None, WITHHELD if created_at is None else created_at)

    def judged(self, note, seq, follows=True):
        """The checkpoint of a note when a trusted key signed it for this chain, and whether it stands where it belongs."""
        checkpoint = open_checkpoint(note, self.keys)
        before = self.expected if follows else None
        lost, self.expected, self.gap = self.gap, None, None
        if checkpoint is None or checkpoint.chain_id != self.chain_id:
            return None, False
        # The checkpoint before may have stood over a row that is missing, or just before those.
        if lost is not None and lost[0] <= checkpoint.first <= lost[1] + 1:
            before = None
        self.expected = (checkpoint.digest, checkpoint.seq + 1)
        self.newest_signed = max(self.newest_signed, checkpoint.seq)
        self.newest_time = checkpoint.time
        return checkpoint, checkpoint.seq == seq and (before is None or before == (checkpoint.previous, checkpoint.first))

    def checkpoint(self, line):
        self.checkpoints += 1
        seq = line["chain_seq"]
        self.newest_line = max(self.newest_line, seq)
        checkpoint, stands = self.judged(line["note"], seq)
        if not stands:
            self.find("checkpoint_invalid", seq)
        if checkpoint is None or checkpoint.seq != seq:
            return
        if self.last == seq:
            if not self.contradicts(checkpoint.row_hash):
                self.uncovered = Uncovered()
        elif seq >= self.next_seq:
            self.ahead = (seq, checkpoint.row_hash)
        elif self.last is not None:
            self.find("checkpoint_invalid", seq)

    def pruned(self, line):
        # Anywhere but before the rows, or up to another row than the chain says, it would cover up for rows that are gone.
        if self.started or self.dropped is not None or line["through_seq"] + 1 != self.first_seq:
            if self.stray is None:
                self.stray = line["through_seq"] if is_safe(line["through_seq"]) else self.next_seq
            return
        self.dropped = line["through_seq"]
        self.checkpoints += 1
        self.newest_line = line["through_seq"]
        checkpoint, stands = self.judged(line["checkpoint"], line["through_seq"], follows=False)
        if not stands or checkpoint.row_hash != line["row_hash"]:
            self.find("checkpoint_invalid", line["through_seq"])
        self.next_seq = line["through_seq"] + 1
        self.allowed = [line["row_hash"] if checkpoint is None else checkpoint.row_hash]

    def end(self):
        self.start()
        self.leave()
        recorded = self.head_seq if self.head_seq is not None and self.head_hash is not None else 0
        if self.next_seq <= max(recorded, self.newest_signed):
            self.find("missing", self.next_seq)
        announced = self.facts.get("last_checkpoint_seq") or 0
        if announced > self.newest_line:
            self.find("missing", announced)
        if self.beyond is not None:
            self.find("unanchored", self.beyond)
        signed = 0 if self.newest_time is None else millis(self.newest_time)
        if self.uncovered.overdue(millis(self.facts["exported_at"]), millis(self.facts.get("updated_at")), signed):
            self.find("unanchored", self.uncovered.first)
        if self.stray is not None and not self.findings:
            self.find("broken_link", self.stray)
        return min((VERDICTS.index(verdict) for verdict, _ in self.findings), default=VERDICTS.index("intact"))


def read(lines, trusted):
    chain = None
    for count, written in enumerate(lines, 1):
        if written in ("\n", "\r\n", "\r"):
            continue
        try:
            kind, line = parse(written)
            if kind == "chain":
                if chain is not None:
                    raise NotAnExport("it begins a second chain")
                chain = Chain(line, trusted)
            elif chain is None:
                raise NotAnExport("the chain line must come first")
            elif kind == "row":
                chain.row(line["row"])
            else:
                getattr(chain, kind)(line)
        except NotAnExport as problem:
            raise NotAnExport(f"line {count}: {problem}") from None
    if chain is None:
        raise NotAnExport("the file is empty")
    return chain


def main(arguments):
    if len(arguments) == 0 or arguments[0] in ("-h", "--help"):
        raise NotAnExport(__doc__)
    path, *given = arguments
    trusted = [base64_of(written.strip()) for written in given] or None
    for at, public in enumerate(trusted or []):
        if public is None or len(public) != 32:
            raise NotAnExport(f"{given[at]} is not a public key: expected base64 of 32 bytes")
    with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
        chain = read(lines, trusted)
    worst = chain.end()
    for verdict, seq in chain.findings:
        print(f"{verdict}@{seq}")
    print(f"{VERDICTS[worst]}: {chain.rows} rows, {chain.links} withheld, {chain.checkpoints} checkpoints, {chain.uncovered.count} rows wait for one, {len(chain.findings)} findings")
    return 0 if VERDICTS[worst] == "intact" else 1 if VERDICTS[worst] == "unanchored" else 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (NotAnExport, OSError) as problem:
        print(f"verify_export.py: {problem}", file=sys.stderr)
        sys.exit(3)
