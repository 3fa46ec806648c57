/** Waits until `url` answers with success. Throws if the process ends first or time runs out. */
export async function respondsAt(url: string, exited: Promise<number>, timeoutMs: number): Promise<void> {
  let code: number | undefined;
  void exited.then((value) => (code = value));
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    if (code !== undefined) throw new Error(`it ended with code ${code} instead of answering`);
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
      await answer.arrayBuffer();
      if (answer.ok) return;
    } catch {
      // Not listening yet.
    }
    await Bun.sleep(100);
  }
  throw new Error(`${new URL(url).pathname} gave no success within ${timeoutMs / 1000} s`);
}
