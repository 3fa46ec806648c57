/** System calls that no script needs and that extend what a confined process can reach, with their numbers per architecture. */
const DENIED: Readonly<Record<string, readonly [x64: number | null, arm64: number | null]>> = {
  socket: [41, 198],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  userfaultfd: [323, 282],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  syslog: [103, 116],
  acct: [163, 89],
  quotactl: [179, 60],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  mknod: [133, null],
  mknodat: [259, 33],
  personality: [135, 92],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  pidfd_getfd: [438, 438],
  mount_setattr: [442, 442],
};

const MACHINES = { x64: { at: 0, arch: 0xc000003e, clone: 56 }, arm64: { at: 1, arch: 0xc00000b7, clone: 220 } } as const;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const REFUSE = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
const CLONE3 = 435;
/** The flags for any new namespace. */
const CLONE_NEW = 0x7e020080;
/** x86-64's second set of system call numbers, which would bypass the list. */
const X32 = 0x40000000;

/** The seccomp filter for every process in the sandbox, as BPF instructions; null for unsupported architectures. */
export function seccompFilter(machine: string): Uint8Array | null {
  const known = machine === "x64" || machine === "arm64" ? MACHINES[machine] : null;
  if (known === null) return null;
  const program: (readonly [code: number, jumpTrue: number, jumpFalse: number, value: number])[] = [
    [LOAD, 0, 0, 4],
    [JUMP_EQUAL, 1, 0, known.arch],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, 0],
  ];
  const refuse = (number: number, errno: number) => program.push([JUMP_EQUAL, 0, 1, number], [RETURN, 0, 0, REFUSE | errno]);
  if (machine === "x64") program.push([JUMP_AT_LEAST, 0, 1, X32], [RETURN, 0, 0, REFUSE | EPERM]);
  for (const numbers of Object.values(DENIED)) {
    const number = numbers[known.at];
    if (number != null) refuse(number, EPERM);
  }
  // A filter cannot read clone3's flags, because they are in memory; with ENOSYS, callers fall back to clone.
  refuse(CLONE3, ENOSYS);
  program.push(
    [JUMP_EQUAL, 0, 3, known.clone],
    [LOAD, 0, 0, 16],
    [JUMP_ANY_BIT, 0, 1, CLONE_NEW],
    [RETURN, 0, 0, REFUSE | EPERM],
    [RETURN, 0, 0, ALLOW],
  );
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, yes, no, value], i) => {
    bytes.setUint16(i * 8, code, true);
    bytes.setUint8(i * 8 + 2, yes);
    bytes.setUint8(i * 8 + 3, no);
    bytes.setUint32(i * 8 + 4, value >>> 0, true);
  });
  return new Uint8Array(bytes.buffer);
}
