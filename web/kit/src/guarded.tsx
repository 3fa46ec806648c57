import { Component, type ReactNode } from "react";

interface GuardedProps {
  /** Identifies the content; a change resets the error. */
  readonly of: string;
  readonly instead: ReactNode;
  readonly children: ReactNode;
}

interface GuardState {
  readonly of: string;
  readonly failed: boolean;
}

/**
 * An error boundary for a part of a page: content from others may fail to render, and chunks of an older release are gone after an upgrade.
 * The rest of the page stays.
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
