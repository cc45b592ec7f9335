"""The stage, which draws cases everywhere: it gets scenes (`core.scene`) and draws them in the browser."""
