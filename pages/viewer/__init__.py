"""The stage: what draws a case, everywhere. It is given scenes (`core.scene`) and draws them in the browser."""
