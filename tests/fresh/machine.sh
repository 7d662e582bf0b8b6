# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2154  # run.sh sets the variables; single quotes are for the machine's shell
# Bare Debian 12 machines in folders: sourced by run.sh, which is root in a mount and process namespace of its own, so
# that all mounts and processes end with it. The user `dev` may use sudo, the user `plain` may not.
#
#   $work/base                the bare machine, made once: what mmdebstrap leaves, and the two users
#   $work/machines/NAME       one machine: what differs from those below it (upper), and the whole (root) while it runs
#   $work/archives, ccache    Debian's packages and compiled files, shared by all machines

release=bookworm
base_packages=sudo

# Lines for sources.list: Debian 12 as the host's apt configuration has it.
host_sources() {
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    grep -E " $release(-[a-z]+)? " | sort -u
}

# The host's apt settings that reach a mirror: proxies and checks of dates. They may name hosts, so they are never printed.
host_apt_settings() {
  apt-config dump | grep -E '^Acquire::(http|https|ftp|Check|Retries)[^ ]* "[^"]+";$' || true
  [[ -z ${http_proxy:-} ]] || echo "Acquire::http::Proxy \"$http_proxy\";"
}

# make_base: the bare machine, unless there is one of the same recipe.
make_base() {
  local sources settings wanted log=$work/logs/base.log
  sources=$(host_sources) || true
  [[ -n $sources ]] || skip "apt here knows no mirror of Debian 12; apt-get update reads its lists"
  settings=$(host_apt_settings)
  wanted=$(printf '%s\n' "$sources" "$settings" "$base_packages" "$(declare -f make_base)" | sha256sum)
  [[ ! -f $work/base.stamp || $(<"$work/base.stamp") != "$wanted" ]] || return 0
  rm -rf --one-file-system "$work/base" "$work/base.stamp" "$work/prepared.stamp"
  printf '%s\n' "$settings" >"$work/apt.conf"
  printf '%s\n' "$sources" >"$work/sources.list"
  # Synchronising each file is most of an installation's time, and these machines need not survive a power failure.
  mmdebstrap --mode=root --variant=minbase --include="$base_packages" --aptopt="$work/apt.conf" --dpkgopt=force-unsafe-io \
    "$release" "$work/base" "$work/sources.list" >"$log" 2>&1 ||
    skip "mmdebstrap made no machine: $(grep -m 1 '^E: ' "$log" || tail -n 1 "$log")"
  chroot "$work/base" bash -ec 'for user in dev plain; do useradd --create-home --shell /bin/bash $user; done
    echo "dev ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/dev; mkdir -p /ccache; rm -f /etc/resolv.conf'
  echo "$wanted" >"$work/base.stamp"
}

# Files and folders that the host's settings for pip and certificates name are in the machine's /host, each in the name of its
# variable: packages would replace a file of their own. Sets `network`, the environment with these settings.
bring_network() {
  local root=$1 name value
  network=()
  mkdir -p "$root/host"
  for name in "${passed[@]}"; do
    value=${!name}
    if [[ $value == /* && -e $value ]]; then
      if [[ -d $value ]]; then
        mkdir -p "$root/host/$name"
        mount --bind "$value" "$root/host/$name"
      else
        cp -L "$value" "$root/host/$name"
      fi
      value=/host/$name
    fi
    network+=("$name=$value")
  done
  for value in /etc/pip.conf /etc/resolv.conf /etc/hosts; do
    [[ ! -e $value ]] || cp -L "$value" "$root$value"
  done
  mkdir -p "$root/usr/local/share/ca-certificates"
  cp -rL /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
}

# start NAME [LOWER-FOLDERS]: a new machine on top of the base, or of what LOWER-FOLDERS (a:b, the first on top) says.
start() {
  local folder=$work/machines/$1 lower=${2:-$work/base} root
  stop "$1"
  mkdir -p "$folder"/{upper,work,root}
  mount -t overlay overlay -o "lowerdir=$lower,upperdir=$folder/upper,workdir=$folder/work" "$folder/root"
  root=$folder/root
  mount -t proc proc "$root/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount --bind "$work/archives" "$root/var/cache/apt/archives"
  if [[ $cache == yes ]]; then
    mount --bind "$work/ccache" "$root/ccache"
  fi
  bring_network "$root"
}

# stop NAME: takes the machine down and forgets it; `stop NAME keep` leaves what differs in $work/machines/NAME/upper.
stop() {
  local folder=$work/machines/$1
  [[ -d $folder ]] || return 0
  ! mountpoint -q "$folder/root" || umount -R "$folder/root"
  [[ ${2:-} == keep ]] || rm -rf --one-file-system "$folder"
}

# place_clone NAME USER: a clean clone of HEAD in the user's home, without ../shared.
place_clone() {
  local root=$work/machines/$1/root home=/root
  [[ $2 == root ]] || home=/home/$2
  rm -rf --one-file-system "$work/clone"
  git -c safe.directory='*' clone --quiet --no-hardlinks "$project" "$work/clone"
  mv "$work/clone" "$root$home/tosa-npu"
  chroot "$root" chown -R "$2:$2" "$home/tosa-npu"
}

# on NAME USER COMMAND: runs a shell's command in the clone, with an environment that has nothing of the host but what
# reaches the network.
on() {
  local root=$work/machines/$1/root user=$2 home=/root
  local -a environment=("${network[@]}")
  [[ $user == root ]] || home=/home/$user
  if [[ $cache == yes ]]; then
    environment+=(CCACHE_DIR=/ccache CCACHE_UMASK=000)
  fi
  chroot --userspec="$user:$user" --groups="$user" "$root" /usr/bin/env -i HOME="$home" USER="$user" TERM=dumb \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NPU_FRESH_MACHINE=1 "${environment[@]}" \
    /bin/bash -c "cd $home/tosa-npu 2>/dev/null || cd /; $3" </dev/null
}
