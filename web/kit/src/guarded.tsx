import { Component, type ReactNode } from "react";

interface GuardedProps {
  /** What is drawn; something else is tried again. */
  readonly of: string;
  readonly instead: ReactNode;
  readonly children: ReactNode;
}

interface GuardState {
  readonly of: string;
  readonly failed: boolean;
}

/**
 * A part of a page that may fail to be drawn: made of what somebody else wrote, or loaded from a release of the pages that is
 * gone since the gateway was upgraded. The rest of the page stays.
 */
export class Guarded extends Component<GuardedProps, GuardState> {
  override state: GuardState = { of: this.props.of, failed: false };

  static getDerivedStateFromError(): Partial<GuardState> {
    return { failed: true };
  }

  static getDerivedStateFromProps({ of }: GuardedProps, before: GuardState): GuardState | null {
    return of === before.of ? null : { of, failed: false };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.instead : this.props.children;
  }
}
